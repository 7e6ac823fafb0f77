import { redirects } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { REDIRECTS_OF_A_SITE } from '@edgeloom/contract/modules/redirects.ts';
import { Button, FileButton, Textarea } from '@mantine/core';
import { IconFileText } from '@tabler/icons-react';
import { parse } from 'papaparse';
import { useDeferredValue, useMemo, useState } from 'react';
import { useOverlayClose } from '../../components/overlay/overlay.tsx';
import { announceCreated } from '../../components/resource-table/new-rows.ts';
import { ruleText } from '../../lib/errors.ts';
import { count as number } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import classes from './modules.module.css';
import type { InModule } from './redirect-form.tsx';
import { readRedirects } from './redirect-lines.ts';

const SHOWN = 50;

/** Imports redirects from a file or the clipboard, with errors by line. All or nothing. */
export function ImportForm({ at }: { at: InModule }) {
  const t = useT();
  const close = useOverlayClose();
  const [text, setText] = useState('');
  const later = useDeferredValue(text);
  const lines = useMemo(() => readRedirects(parse<string[]>(later).data), [later]);
  const faults = lines.filter(({ issue }) => issue !== null);
  const { run, running } = useAction(redirects.create, { refreshes: ['urlRedirects'], done: 'common.created' });
  const tooMany = lines.length > REDIRECTS_OF_A_SITE;
  const submit = async () => {
    const made = await run({ params: { ...at }, body: { redirects: lines.map(({ input }) => input) } });
    if (!made) return;
    close();
    announceCreated(redirects.create.feature, made);
  };
  return (
    <form
      className={classes['drawer']}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Textarea
        label={t('redirects.lines')}
        description={t('redirects.linesWhy')}
        placeholder={'/old,/new\n/news,https://news.example.com,302,prefix'}
        classNames={{ input: classes['mono'] ?? '' }}
        rows={12}
        spellCheck={false}
        autoCapitalize="off"
        value={text}
        data-autofocus
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <div>
        <FileButton
          accept=".csv,.txt,text/csv,text/plain"
          onChange={(file) => void file?.text().then((content) => setText(content))}
        >
          {(props) => (
            <Button {...props} size="xs" variant="default" leftSection={<IconFileText size={14} stroke={1.6} />}>
              {t('redirects.file')}
            </Button>
          )}
        </FileButton>
      </div>
      <output className={classes['hint']}>
        {t('redirects.read', { count: lines.length })}
        {faults.length > 0 && ` ${t('redirects.faulty', { count: faults.length })}`}
        {tooMany && ` ${t('errors.205007')}`}
      </output>
      {faults.length > 0 && (
        <ul className={classes['faults']}>
          {faults.slice(0, SHOWN).map(({ n, source, issue }) => (
            <li key={n}>
              <span>{t('common.form.line', { line: n })}</span> <code>{source}</code>{' '}
              <b>{issue && ruleText(issue.rule, issue.message, issue.values)}</b>
            </li>
          ))}
          {faults.length > SHOWN && <li>{t('common.form.moreLines', { more: number(faults.length - SHOWN) })}</li>}
        </ul>
      )}
      <div className="dialog-buttons">
        <Button variant="default" onClick={close}>
          {t('common.cancel')}
        </Button>
        <Button type="submit" loading={running} disabled={lines.length === 0 || faults.length > 0 || tooMany}>
          {t('redirects.importSubmit', { count: lines.length })}
        </Button>
      </div>
    </form>
  );
}
