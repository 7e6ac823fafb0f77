import { strategyOf } from '@edgeloom/contract/zone-settings/changes.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { snippetParts } from '@edgeloom/contract/zone-settings/allowed.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Button, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { CodeDiff } from '../../components/code-editor/code-diff.tsx';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { duration } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { GoesBack } from '../rollouts/goes-back.tsx';
import { waveName, wavesOf } from '../rollouts/in-words.ts';
import type { Draft, Settings } from './drafting.tsx';
import { faultText, fieldName, linesText, valueText } from './in-words.ts';
import classes from './zone-settings.module.css';

interface ReviewProps {
  zoneId: string;
  settings: Settings;
  draft: Draft;
  onBack: () => void;
  onDone: () => void;
}
type Preview = Received<typeof zoneSettings.preview>;

/** What a change would do, said beforehand: in words, by nginx, by the files that differ; and where it goes first. */
export function Review({ zoneId, settings, draft, onBack, onDone }: ReviewProps) {
  const t = useT();
  const [reason, setReason] = useState('');
  const seen = useEndpoint(zoneSettings.preview, { params: { zoneId }, body: draft });
  const publish = useAction(zoneSettings.set, { refreshes: ['zones'], done: 'zoneSettings.published' });
  useEffect(() => document.querySelector<HTMLElement>('[data-review]')?.focus(), []);
  return (
    <section className={classes['review']} aria-label={t('zoneSettings.reviewTitle')} tabIndex={-1} data-review>
      <Await result={seen}>
        {(preview) => (
          <div className={classes['columns']}>
            <Differences preview={preview} settings={settings} draft={draft} />
            <aside className={classes['aside']}>
              <Words preview={preview} />
              <Checks preview={preview} />
              <Rollout preview={preview} settings={settings} />
            </aside>
          </div>
        )}
      </Await>
      {/* Whatever became of the preview, there is a way back. */}
      <form
        className={classes['publish']}
        onSubmit={(event) => {
          event.preventDefault();
          void publish.run({ params: { zoneId }, body: { ...draft, reason } }).then((reply) => reply && onDone());
        }}
      >
        <TextInput
          className={classes['reason'] ?? ''}
          aria-label={t('zoneSettings.fields.reason')}
          placeholder={t('zoneSettings.reasonHint')}
          maxLength={256}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Button variant="default" onClick={onBack}>
          {t('zoneSettings.keepEditing')}
        </Button>
        <Button type="submit" loading={publish.running} disabled={reason.trim() === '' || !isSound(seen.data)}>
          {seen.data && seen.data.nodes > 0
            ? t('zoneSettings.publish', { count: seen.data.nodes })
            : t('common.publish')}
        </Button>
      </form>
    </section>
  );
}

const isSound = (preview: Preview | undefined) =>
  preview !== undefined && preview.faults.length === 0 && preview.changes.length > 0;

/** Of snippets what was written, of everything else the files that come of it. */
function Differences({ preview, settings, draft }: { preview: Preview; settings: Settings; draft: Draft }) {
  const t = useT();
  const written = snippetParts.filter(
    (part) => draft.nginx?.[part] !== undefined && draft.nginx[part] !== settings.nginx[part],
  );
  const labels = (name: string) => [t('zoneSettings.before', { name }), t('zoneSettings.after', { name })] as const;
  if (written.length > 0)
    return (
      <div className={classes['differences']}>
        {written.map((part) => (
          <section key={part}>
            <h2 className={classes['file']}>{t(`zoneSettings.fields.${part}`)}</h2>
            <CodeDiff before={settings.nginx[part]} after={draft.nginx?.[part] ?? ''} labels={labels(part)} />
          </section>
        ))}
      </div>
    );
  return (
    <div className={classes['differences']}>
      {preview.files.length === 0 && <p className={classes['quiet']}>{t('zoneSettings.noFiles')}</p>}
      {preview.files.map(({ path, before, after }) => (
        <section key={path}>
          <h2 className={classes['file']}>{path}</h2>
          <CodeDiff before={before} after={after} labels={labels(path)} />
        </section>
      ))}
    </div>
  );
}

function Words({ preview: { changes } }: { preview: Preview }) {
  const t = useT();
  return (
    <section>
      <h2 className={classes['heading']}>{t('zoneSettings.inWords')}</h2>
      <dl className={classes['words']}>
        {changes.map(({ field, before, after }) => (
          <div key={field}>
            <dt>{fieldName(t, field)}</dt>
            <dd>
              {linesText(t, before, after) ?? (
                <>
                  <s>{valueText(t, field, before)}</s> → <b>{valueText(t, field, after)}</b>
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
        {faults.map((fault) => (
          <li key={`${fault.part}:${fault.line}:${fault.column}`}>
            <StatusMark tone="bad" />
            <span>
              {t('zoneSettings.faultAt', { part: t(`zoneSettings.fields.${fault.part}`), line: fault.line })}{' '}
              {faultText(t, fault)}
            </span>
          </li>
        ))}
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

function Rollout({ preview: { nodes, changes }, settings }: { preview: Preview; settings: Settings }) {
  const t = useT();
  const language = useLanguage();
  const strategy = strategyOf(settings.soakSeconds, changes);
  const waves = wavesOf(strategy);
  // Of a small zone the first node is the tenth already.
  const reached = waves.map(({ percent }) => (percent === null ? 1 : Math.ceil((percent * nodes) / 100)));
  const sized = waves.map((wave, i) => ({ ...wave, nodes: (reached[i] ?? 0) - (reached[i - 1] ?? 0) }));
  return (
    <section>
      <h2 className={classes['heading']}>{t('zoneSettings.rollout')}</h2>
      {nodes === 0 ? (
        <p className={classes['quiet']}>{t('zoneSettings.noNodes')}</p>
      ) : (
        <>
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
          <GoesBack strategy={strategy} />
        </>
      )}
    </section>
  );
}
