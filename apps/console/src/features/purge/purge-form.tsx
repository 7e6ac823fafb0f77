import { purge } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { Button, SegmentedControl, Textarea } from '@mantine/core';
import { IconEraser } from '@tabler/icons-react';
import { useState } from 'react';
import { useConfirm } from '../../components/confirm/confirm.tsx';
import { fieldErrorsOf, ruleText, toastError } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { follow } from '../../stores/jobs.ts';
import { isPurgeHost, isPurgeURL, linesOf, MOST_LINES, type Scope } from './purge-input.ts';
import classes from './purge.module.css';

interface PurgeFormProps {
  site: { id: string; name: string };
  onStarted: (jobID: string) => void;
}

const scopes = ['urls', 'hosts', 'site'] as const satisfies readonly Scope[];

export function PurgeForm({ site, onStarted }: PurgeFormProps) {
  const t = useT();
  const confirm = useConfirm();
  const [scope, setScope] = useState<Scope>('urls');
  const [text, setText] = useState('');
  const [tried, setTried] = useState(false);
  const [refused, setRefused] = useState<ReadonlyMap<number, string>>(new Map());
  const urls = useAction(purge.urls, { refreshes: ['jobs'], quiet: true });
  const all = useAction(purge.all, { refreshes: ['sites', 'jobs'], quiet: true });
  const lines = linesOf(text);
  const good = scope === 'urls' ? isPurgeURL : isPurgeHost;
  const bad =
    scope === 'site'
      ? []
      : lines.flatMap((line, i) =>
          good(line) && !refused.has(i)
            ? []
            : [
                {
                  n: i + 1,
                  line,
                  why: refused.get(i) ?? t(scope === 'urls' ? 'purge.verdicts.url' : 'purge.verdicts.host'),
                },
              ],
        );
  const params = { siteId: site.id };

  const sure = () =>
    scope === 'site'
      ? confirm({
          title: t('purge.siteTitle', { name: site.name }),
          points: [t('purge.originPoint'), t('purge.offlinePoint')],
          verb: t('purge.submitSite'),
        })
      : scope === 'hosts'
        ? confirm({
            title: t('purge.hostsTitle', { count: lines.length }),
            points: [t('purge.originPoint'), t('purge.offlinePoint')],
            verb: t('purge.submitHosts', { count: lines.length }),
          })
        : true;

  const submit = async () => {
    setTried(true);
    if (scope !== 'site' && (lines.length === 0 || bad.length > 0 || lines.length > MOST_LINES)) return;
    if (!(await sure())) return;
    try {
      const started =
        scope === 'site'
          ? await all.run({ params })
          : await urls.run({ params, body: { type: scope === 'urls' ? 1 : 3, urls: lines } });
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
        : t(scope === 'urls' ? 'purge.submitURLs' : 'purge.submitHosts', { count: lines.length });
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
            aria-label={t(scope === 'urls' ? 'purge.urls' : 'purge.hosts')}
            placeholder={t(scope === 'urls' ? 'purge.urlsHint' : 'purge.hostsHint')}
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
              bad.slice(0, 20).map(({ n, line, why }) => (
                <li key={n}>
                  <span>{t('common.form.line', { line: n })}</span> <code>{line}</code> {why}
                </li>
              ))}
          </ul>
        </div>
      )}
      <div>
        <Button
          type="submit"
          loading={urls.running || all.running}
          leftSection={<IconEraser size={15} stroke={1.6} />}
          {...(scope === 'site' && { color: 'red' })}
        >
          {label}
        </Button>
      </div>
    </form>
  );
}
