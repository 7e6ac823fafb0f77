import { snippetParts } from '@edgeloom/contract/zone-settings/allowed.ts';
import { strategyOf } from '@edgeloom/contract/zone-settings/changes.ts';
import type { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Button, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { CodeDiff } from '../../components/code-editor/code-diff.tsx';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { duration } from '../../lib/format.ts';
import { useLanguage, useT, type Word } from '../../lib/i18n.ts';
import type { Result } from '../../lib/use-endpoint.ts';
import { GoesBack } from '../rollouts/goes-back.tsx';
import { waveName, wavesOf } from '../rollouts/in-words.ts';
import type { Settings } from './draft.ts';
import { FaultLines } from './fault-lines.tsx';
import { fieldName, linesText, valueText } from './in-words.ts';
import classes from './zone-settings.module.css';

interface ReviewProps {
  seen: Result<Preview>;
  settings: Pick<Settings, 'soakSeconds' | 'trial'>;
  /** By default it is published. */
  verb?: Word;
  running: boolean;
  onPublish: (reason: string) => void;
  onBack: () => void;
}
type Preview = Received<typeof zoneSettings.preview>;

/** What a change would do, said beforehand: in words, by nginx, by what differs; and where it goes first. */
export function Review({ seen, settings, verb, running, onPublish, onBack }: ReviewProps) {
  const t = useT();
  const [reason, setReason] = useState('');
  const [isAsked, setAsked] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const why = useRef<HTMLInputElement>(null);
  const isMissing = reason.trim() === '';
  const nodes = seen.data?.nodes ?? 0;
  useEffect(() => {
    document.querySelector<HTMLElement>('[data-review]')?.focus();
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
      event.preventDefault();
      form.current?.requestSubmit();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return (
    <section className={classes['review']} aria-label={t('zoneSettings.reviewTitle')} tabIndex={-1} data-review>
      <Await result={seen}>
        {(preview) => (
          <div className={classes['columns']}>
            <Differences preview={preview} />
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
        ref={form}
        className={classes['publish']}
        onSubmit={(event) => {
          event.preventDefault();
          setAsked(true);
          if (isMissing) why.current?.focus();
          else if (isSound(seen.data) && !running) onPublish(reason);
        }}
      >
        <TextInput
          ref={why}
          className={classes['reason'] ?? ''}
          aria-label={t('zoneSettings.fields.reason')}
          placeholder={t('zoneSettings.reasonHint')}
          maxLength={256}
          value={reason}
          error={isAsked && isMissing ? t('errors.rules.required') : null}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Button variant="default" onClick={onBack}>
          {t(verb ? 'common.cancel' : 'zoneSettings.keepEditing')}
        </Button>
        <Button type="submit" loading={running} disabled={!isSound(seen.data)}>
          {verb ? t(verb) : nodes > 0 ? t('zoneSettings.publish', { count: nodes }) : t('common.publish')}
        </Button>
      </form>
    </section>
  );
}

const isSound = (preview: Preview | undefined) =>
  preview !== undefined && preview.faults.length === 0 && preview.changes.length > 0;

const isSnippet = (field: string) => snippetParts.some((part) => field === `nginx.${part}`);
const lists = ['firewall.whitelist', 'firewall.blacklist', 'antiCC.paths', 'antiCC.extensions'];
/** Another one below the last line does not change that one. */
const ended = (list: string) => (list === '' ? '' : `${list}\n`);

/** Of snippets and lists what was written, of everything else the files that come of it. */
function Differences({ preview: { changes, files } }: { preview: Preview }) {
  const t = useT();
  const snippets = changes.filter(({ field }) => isSnippet(field));
  const isNginxAlone = snippets.length > 0 && changes.every(({ field }) => field.startsWith('nginx.'));
  const texts = [
    ...changes
      .filter(({ field }) => lists.includes(field))
      .map(({ field, before, after }) => ({ name: fieldName(t, field), before: ended(before), after: ended(after) })),
    ...snippets.map(({ field, before, after }) => ({ name: fieldName(t, field), before, after })),
    ...files
      // What a snippet comes to in its file is the snippet.
      .filter(({ path }) => !isNginxAlone && !(snippets.length > 0 && path.includes('snippet-')))
      .map(({ path, before, after }) => ({ name: path, before, after })),
  ];
  const labels = (name: string) => [t('zoneSettings.before', { name }), t('zoneSettings.after', { name })] as const;
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

function Words({ preview: { changes } }: { preview: Preview }) {
  const t = useT();
  return (
    <section>
      <h2 className={classes['heading']}>{t('zoneSettings.inWords')}</h2>
      {changes.length === 0 && <p className={classes['quiet']}>{t('zoneSettings.same')}</p>}
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

function Rollout({ preview: { nodes, changes }, settings }: { preview: Preview } & Pick<ReviewProps, 'settings'>) {
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
          <GoesBack strategy={strategy} />
        </>
      )}
    </section>
  );
}
