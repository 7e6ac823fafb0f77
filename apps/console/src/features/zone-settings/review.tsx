import { Button, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Await } from '../../components/states/await.tsx';
import { useT, type Word } from '../../lib/i18n.ts';
import type { Result } from '../../lib/use-endpoint.ts';
import { asItIs, Differences, Effects, type Preview, type Standing } from './change-preview';
import classes from './zone-settings.module.css';

interface ReviewProps {
  seen: Result<Preview>;
  settings: Standing;
  /** Label of the publish button. */
  verb?: Word;
  running: boolean;
  onPublish: (reason: string) => void;
  onBack: () => void;
}

/** Preview of a change: as text, nginx's verdict, diffs and waves. */
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
            <Differences of={preview} labels={asItIs(t)} />
            <aside className={classes['aside']}>
              <Effects preview={preview} settings={settings} />
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
