import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { Button, Checkbox, SegmentedControl, Textarea } from '@mantine/core';
import { IconEraser } from '@tabler/icons-react';
import { useState } from 'react';
import { useConfirm } from '../../components/confirm/confirm.tsx';
import { fieldErrorsOf, ruleText, toastError } from '../../lib/errors.ts';
import { count as number } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { follow } from '../../stores/jobs.ts';
import { linesOf, listed, MOST_LINES, type Scope } from './purge-input.ts';
import classes from './purge.module.css';

/** Number of errors to list; the rest are counted. */
const SHOWN = 20;

interface PurgeFormProps {
  site: { id: string; name: string };
  onStarted: (jobID: string) => void;
}

const scopes = ['urls', 'prefixes', 'hosts', 'tags', 'site'] as const satisfies readonly Scope[];

export function PurgeForm({ site, onStarted }: PurgeFormProps) {
  const t = useT();
  const confirm = useConfirm();
  const [scope, setScope] = useState<Scope>('urls');
  const [text, setText] = useState('');
  const [soft, setSoft] = useState(false);
  const [tried, setTried] = useState(false);
  const [refused, setRefused] = useState<ReadonlyMap<number, string>>(new Map());
  const some = useAction(purge.urls, { refreshes: ['jobs'], quiet: true });
  const all = useAction(purge.all, { refreshes: ['sites', 'jobs'], quiet: true });
  const lines = linesOf(text);
  const bad =
    scope === 'site'
      ? []
      : lines.flatMap((line, i) =>
          listed[scope].good(line) && !refused.has(i)
            ? []
            : [{ n: i + 1, line, why: refused.get(i) ?? t(`purge.verdicts.${scope}`) }],
        );
  const params = { siteId: site.id };

  const sure = () => {
    const points = [t('purge.originPoint'), t('purge.offlinePoint')];
    if (scope === 'site' && !soft)
      return confirm({ title: t('purge.siteTitle', { name: site.name }), points, verb: t('purge.submitSite') });
    if (scope === 'hosts' && !soft)
      return confirm({
        title: t('purge.hostsTitle', { count: lines.length }),
        points,
        verb: t('purge.submit.hosts', { count: lines.length }),
      });
    return true;
  };

  const submit = async () => {
    setTried(true);
    if (scope !== 'site' && (lines.length === 0 || bad.length > 0 || lines.length > MOST_LINES)) return;
    if (!(await sure())) return;
    try {
      const started =
        scope === 'site'
          ? await all.run({ params, query: { soft } })
          : await some.run({ params, body: { type: listed[scope].type, urls: lines, soft } });
      if (!started) return;
      follow(started.jobID, site.id);
      onStarted(started.jobID);
      setText('');
      setTried(false);
    } catch (error) {
      const found = fieldErrorsOf(error).flatMap(({ path, rule, message }) => {
        const [field, index] = path.split('.');
        return field === 'urls' && index !== undefined ? [[Number(index), ruleText(rule, message)] as const] : [];
      });
      setRefused(new Map(found));
      if (found.length === 0) toastError(error);
    }
  };
  const label =
    scope === 'site'
      ? t('purge.submitSite')
      : lines.length === 0
        ? t('purge.title')
        : t(`purge.submit.${scope}`, { count: lines.length });
  return (
    <form
      className={classes['form']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <div>
        <SegmentedControl
          aria-label={t('purge.what')}
          data={scopes.map((value) => ({ value, label: t(`purge.scopes.${value}`) }))}
          value={scope}
          onChange={(value) => {
            setScope(scopes.find((one) => one === value) ?? 'urls');
            setTried(false);
            setRefused(new Map());
          }}
        />
      </div>
      {scope !== 'site' && (
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
            error={
              (tried && lines.length === 0 && ruleText('required', '')) ||
              (lines.length > MOST_LINES && t('purge.verdicts.tooMany')) ||
              (tried && bad.length > 0)
            }
            onChange={(event) => {
              setText(event.currentTarget.value);
              setRefused(new Map());
            }}
            onBlur={() => lines.length > 0 && setTried(true)}
          />
          <ul id="purge-verdicts" className={classes['verdicts']}>
            {tried &&
              bad.slice(0, SHOWN).map(({ n, line, why }) => (
                <li key={n}>
                  <span>{t('common.form.line', { line: n })}</span> <code>{line}</code> {why}
                </li>
              ))}
            {tried && bad.length > SHOWN && <li>{t('common.form.moreLines', { more: number(bad.length - SHOWN) })}</li>}
          </ul>
        </div>
      )}
      <Checkbox
        label={t('purge.soft')}
        description={t('purge.softWhy')}
        checked={soft}
        onChange={({ currentTarget }) => setSoft(currentTarget.checked)}
      />
      <div>
        <Button
          type="submit"
          loading={some.running || all.running}
          leftSection={<IconEraser size={15} stroke={1.6} />}
          {...(scope === 'site' && !soft && { color: 'red' })}
        >
          {label}
        </Button>
      </div>
    </form>
  );
}
