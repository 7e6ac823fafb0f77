import { Button, Checkbox, SegmentedControl, Textarea } from '@mantine/core';
import { IconEraser } from '@tabler/icons-react';
import { ruleText } from '../../lib/errors.ts';
import { count as number } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { MOST_LINES, type Listed, type Scope } from './purge-input.ts';
import classes from './purge.module.css';
import { usePurge, type PurgeDraft } from './use-purge.ts';

/** Number of errors to list; the rest are counted. */
const SHOWN = 20;

interface PurgeFormProps {
  site: { id: string; name: string };
  onStarted: (jobID: string) => void;
}

const scopes = ['urls', 'prefixes', 'hosts', 'tags', 'site'] as const satisfies readonly Scope[];

export function PurgeForm(props: PurgeFormProps) {
  const t = useT();
  const draft = usePurge(props);
  const { scope, soft } = draft;
  return (
    <form
      className={classes['form']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void draft.submit();
      }}
    >
      <div>
        <SegmentedControl
          aria-label={t('purge.what')}
          data={scopes.map((value) => ({ value, label: t(`purge.scopes.${value}`) }))}
          value={scope}
          onChange={draft.chooseScope}
        />
      </div>
      {scope !== 'site' && <LinesInput scope={scope} draft={draft} />}
      <Checkbox
        label={t('purge.soft')}
        description={t('purge.softWhy')}
        checked={soft}
        onChange={({ currentTarget }) => draft.setSoft(currentTarget.checked)}
      />
      <div>
        <Button
          type="submit"
          loading={draft.isRunning}
          leftSection={<IconEraser size={15} stroke={1.6} />}
          {...(scope === 'site' && !soft && { color: 'red' })}
        >
          <SubmitLabel draft={draft} />
        </Button>
      </div>
    </form>
  );
}

function SubmitLabel({ draft: { scope, lines } }: { draft: PurgeDraft }) {
  const t = useT();
  if (scope === 'site') return t('purge.submitSite');
  return lines.length === 0 ? t('purge.title') : t(`purge.submit.${scope}`, { count: lines.length });
}

/** URLs, prefixes, hosts or tags, one per line, with the errors of lines. */
function LinesInput({ scope, draft }: { scope: Listed; draft: PurgeDraft }) {
  const { text, lines, invalid, isTried } = draft;
  const t = useT();
  const error =
    (isTried && lines.length === 0 && ruleText('required', '')) ||
    (lines.length > MOST_LINES && t('purge.verdicts.tooMany')) ||
    (isTried && invalid.length > 0);
  return (
    <div>
      <Textarea
        aria-label={t(`purge.scopes.${scope}`)}
        placeholder={t(`purge.hints.${scope}`)}
        aria-describedby="purge-verdicts"
        autosize
        minRows={3}
        maxRows={12}
        spellCheck={false}
        autoCapitalize="off"
        value={text}
        error={error}
        onChange={(event) => draft.type(event.currentTarget.value)}
        onBlur={draft.leave}
      />
      <ul id="purge-verdicts" className={classes['verdicts']}>
        {isTried &&
          invalid.slice(0, SHOWN).map(({ number: line, line: content, reason }) => (
            <li key={line}>
              <span>{t('common.form.line', { line })}</span> <code>{content}</code> {reason}
            </li>
          ))}
        {isTried && invalid.length > SHOWN && (
          <li>{t('common.form.moreLines', { more: number(invalid.length - SHOWN) })}</li>
        )}
      </ul>
    </div>
  );
}
