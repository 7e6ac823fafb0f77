import type { Received } from '@edgeloom/contract/endpoint.ts';
import { redirects } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useOverlayClose } from '../../components/overlay/overlay.tsx';
import { Lit } from '../../components/sentence/sentence.tsx';
import { useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import classes from './modules.module.css';
import type { InModule } from './redirect-form.tsx';

type Replaced = Received<typeof redirects.replace>;

/** Replaces a part of all targets, after a preview. */
export function ReplaceForm({ at }: { at: InModule }) {
  const t = useT();
  const close = useOverlayClose();
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [shown, setShown] = useState<Replaced | null>(null);
  const { run, running } = useAction(redirects.replace, { refreshes: ['urlRedirects'] });
  const ask = async (preview: boolean) => {
    const done = await run({ params: { ...at }, body: { from, to, preview } });
    if (done && preview) setShown(done);
    if (done && !preview) close();
  };
  const change = (set: (text: string) => void) => (event: { currentTarget: { value: string } }) => {
    set(event.currentTarget.value);
    setShown(null);
  };
  const more = shown ? shown.count - shown.data.length : 0;
  return (
    <form
      className={classes['drawer']}
      onSubmit={(event) => {
        event.preventDefault();
        void ask(shown === null);
      }}
    >
      <TextInput
        label={t('redirects.fields.from')}
        placeholder="https://old.example.com"
        classNames={{ input: classes['mono'] ?? '' }}
        spellCheck={false}
        value={from}
        data-autofocus
        onChange={change(setFrom)}
      />
      <TextInput
        label={t('redirects.fields.to')}
        placeholder="https://www.example.com"
        classNames={{ input: classes['mono'] ?? '' }}
        spellCheck={false}
        value={to}
        onChange={change(setTo)}
      />
      <output>
        {shown && (
          <>
            <p className={classes['hint']}>{t('redirects.affected', { count: shown.count })}</p>
            <ul className={classes['faults']}>
              {shown.data.map(({ id, source, before, after }) => (
                <li key={id}>
                  <code>{source}</code>
                  <br />
                  <Lit>{before}</Lit> → <Lit>{after}</Lit>
                </li>
              ))}
            </ul>
            {more > 0 && <p className={classes['hint']}>{t('redirects.more', { count: more })}</p>}
          </>
        )}
      </output>
      <div className="dialog-buttons">
        <Button variant="default" onClick={close}>
          {t('common.cancel')}
        </Button>
        <Button type="submit" loading={running} disabled={from.trim() === '' || shown?.count === 0}>
          {shown ? t('redirects.replaceSubmit', { count: shown.count }) : t('redirects.preview')}
        </Button>
      </div>
    </form>
  );
}
