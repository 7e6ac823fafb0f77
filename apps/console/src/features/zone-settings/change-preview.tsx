import { snippetParts } from '@edgeloom/contract/zone-settings/directive-allowlist.ts';
import { strategyOf } from '@edgeloom/contract/zone-settings/changes.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { ConfigDraft } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { useDebouncedValue } from '@mantine/hooks';
import { CodeDiff } from '../../components/code-editor/code-diff.tsx';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { duration } from '../../lib/format.ts';
import { useLanguage, useT, type T } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { RollbackRules } from '../rollouts/rollback-rules.tsx';
import { waveName, wavesOf } from '../rollouts/format.ts';
import type { Settings } from './draft.ts';
import { FaultLines } from './fault-lines.tsx';
import { fieldName, linesText, valueText } from './in-words.ts';
import classes from './zone-settings.module.css';

export type Preview = Received<typeof zoneSettings.preview>;
export type Difference = Received<typeof zoneSettings.compare>;
export type Standing = Pick<Settings, 'soakSeconds' | 'trial'>;

/** Preview of a change of ports. Empty while the form is incomplete. */
export function PortsPreview({ zoneId, change }: { zoneId: string; change: (ports: Settings['ports']) => unknown }) {
  const t = useT();
  const params = { zoneId };
  const settings = useEndpoint(zoneSettings.get, { params }).data;
  const draft = settings && ConfigDraft.safeParse({ ports: change(settings.ports) }).data;
  // Debounced, because numbers are typed digit by digit.
  const [asked] = useDebouncedValue(JSON.stringify(draft ?? null), 400);
  const body = ConfigDraft.nullable().parse(JSON.parse(asked));
  const seen = useEndpoint(zoneSettings.preview, { params, body: body ?? {} }, { enabled: body !== null });
  if (!settings || body === null) return null;
  return (
    <section className={classes['changePreview']} aria-label={t('zoneSettings.reviewTitle')}>
      <Await result={seen}>
        {(preview) => (
          <>
            <Effects preview={preview} settings={settings} />
            <Differences of={preview} labels={asItIs(t)} />
          </>
        )}
      </Await>
    </section>
  );
}

/** The change as text, nginx's verdict, and the waves. */
export function Effects({ preview, settings }: { preview: Preview; settings: Standing }) {
  const t = useT();
  return (
    <>
      <Words changes={preview.changes} none={t('zoneSettings.same')} />
      <Checks preview={preview} />
      <Rollout preview={preview} settings={settings} />
    </>
  );
}

const isSnippet = (field: string) => snippetParts.some((part) => field === `nginx.${part}`);
const lists = ['firewall.whitelist', 'firewall.blacklist', 'antiCC.paths', 'antiCC.extensions'];
/** Without this, a new last line would also mark the line above as changed. */
const ended = (list: string) => (list === '' ? '' : `${list}\n`);

/** Accessible names of both sides of a diff. */
type Labels = (name: string) => readonly [before: string, after: string];
export const asItIs =
  (t: T): Labels =>
  (name) => [t('zoneSettings.before', { name }), t('zoneSettings.after', { name })];

/** Diffs of snippets and lists as written, and of generated files for other settings. */
export function Differences({ of: { changes, files }, labels }: { of: Difference; labels: Labels }) {
  const t = useT();
  const snippets = changes.filter(({ field }) => isSnippet(field));
  const isNginxAlone = snippets.length > 0 && changes.every(({ field }) => field.startsWith('nginx.'));
  const texts = [
    ...changes
      .filter(({ field }) => lists.includes(field))
      .map(({ field, before, after }) => ({ name: fieldName(t, field), before: ended(before), after: ended(after) })),
    ...snippets.map(({ field, before, after }) => ({ name: fieldName(t, field), before, after })),
    ...files
      // A snippet's file equals the snippet, so it is not shown twice.
      .filter(({ path }) => !isNginxAlone && !(snippets.length > 0 && path.includes('snippet-')))
      .map(({ path, before, after }) => ({ name: path, before, after })),
  ];
  return (
    <div className={classes['differences']}>
      {texts.length === 0 && <p className={classes['quiet']}>{t('zoneSettings.noFiles')}</p>}
      {texts.map(({ name, before, after }) => (
        <section key={name}>
          <h2 className={classes['file']}>{name}</h2>
          <CodeDiff before={before} after={after} labels={labels(name)} />
        </section>
      ))}
    </div>
  );
}

export function Words({ changes, none }: { changes: Difference['changes']; none: string }) {
  const t = useT();
  return (
    <section>
      <h2 className={classes['heading']}>{t('zoneSettings.inWords')}</h2>
      {changes.length === 0 && <p className={classes['quiet']}>{none}</p>}
      <dl className={classes['words']}>
        {changes.map((change) => (
          <div key={change.field}>
            <dt>{fieldName(t, change.field)}</dt>
            <dd>
              {linesText(t, change) ?? (
                <>
                  <s>{valueText(t, change.field, change.before)}</s> → <b>{valueText(t, change.field, change.after)}</b>
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const tones = { passed: 'ok', failed: 'bad', missing: 'warn' } as const;

function Checks({ preview: { checks, faults, reload } }: { preview: Preview }) {
  const t = useT();
  return (
    <section>
      <h2 className={classes['heading']}>{t('zoneSettings.checks')}</h2>
      <ul className={classes['checks']}>
        <FaultLines faults={faults} />
        {checks.map(({ name, state, nginx, tookMs }) => (
          <li key={name}>
            <StatusMark tone={tones[state]} />
            <span>
              {t(`zoneSettings.forms.${name}`)} · {state === 'missing' ? t('zoneSettings.noNginx') : nginx}
            </span>
            {state !== 'missing' && <small>{t('zoneSettings.took', { seconds: (tookMs / 1000).toFixed(1) })}</small>}
          </li>
        ))}
        {faults.length === 0 && (
          <li>
            <StatusMark tone={reload ? 'warn' : 'ok'} />
            <span>{t(reload ? 'zoneSettings.reloads' : 'zoneSettings.noReload')}</span>
          </li>
        )}
      </ul>
    </section>
  );
}

function Rollout({ preview: { nodes, changes }, settings }: { preview: Preview; settings: Standing }) {
  const t = useT();
  const language = useLanguage();
  const strategy = strategyOf(settings.soakSeconds, changes);
  const waves = wavesOf(strategy);
  // In a small zone several waves end at the same node.
  const reached = waves.map(({ percent }) => (percent === null ? 1 : Math.ceil((percent * nodes) / 100)));
  const sized = waves.map((wave, i) => ({ ...wave, nodes: (reached[i] ?? 0) - (reached[i - 1] ?? 0) }));
  return (
    <section>
      <h2 className={classes['heading']}>{t('zoneSettings.rollout')}</h2>
      {nodes === 0 ? (
        <p className={classes['quiet']}>{t('zoneSettings.noNodes')}</p>
      ) : (
        <>
          {settings.trial && (
            <p className={classes['quiet']}>{t('zoneSettings.takesOver', { version: settings.trial.version })}</p>
          )}
          <ol className={classes['waves']}>
            {sized
              .filter((wave) => wave.nodes > 0)
              .map((wave) => (
                <li key={wave.position}>
                  <span>{waveName(wave, waves.length, t)}</span>
                  <span>{t('upgrades.for', { count: wave.nodes })}</span>
                  <small>
                    {settings.soakSeconds === 0
                      ? t('upgrades.unwatched')
                      : t('upgrades.watched', { time: duration(settings.soakSeconds, language) })}
                  </small>
                </li>
              ))}
          </ol>
          <RollbackRules strategy={strategy} />
        </>
      )}
    </section>
  );
}
