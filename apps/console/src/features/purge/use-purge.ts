import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { useState } from 'react';
import { useConfirm } from '../../components/confirm/confirm.tsx';
import { fieldErrorsOf, ruleText, toastError } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { follow } from '../../stores/jobs.ts';
import { linesOf, listed, MOST_LINES, type Scope } from './purge-input.ts';

interface PurgeOptions {
  site: { id: string; name: string };
  onStarted: (jobID: string) => void;
}
export type PurgeDraft = ReturnType<typeof usePurge>;

/** The input of a purge: its scope, lines and errors, and the call. */
export function usePurge({ site, onStarted }: PurgeOptions) {
  const t = useT();
  const isConfirmed = useConfirmation(site.name);
  const [scope, setScope] = useState<Scope>('urls');
  const [text, setText] = useState('');
  const [soft, setSoft] = useState(false);
  /** Errors are shown once the field was left or a purge was tried. */
  const [isTried, setTried] = useState(false);
  const [refused, setRefused] = useState<ReadonlyMap<number, string>>(new Map());
  const some = useAction(purge.urls, { refreshes: ['jobs'], quiet: true });
  const all = useAction(purge.all, { refreshes: ['sites', 'jobs'], quiet: true });

  const lines = linesOf(text);
  const invalid =
    scope === 'site'
      ? []
      : lines.flatMap((line, i) =>
          listed[scope].good(line) && !refused.has(i)
            ? []
            : [{ number: i + 1, line, reason: refused.get(i) ?? t(`purge.verdicts.${scope}`) }],
        );
  const isValid = scope === 'site' || (lines.length > 0 && invalid.length === 0 && lines.length <= MOST_LINES);

  const send = () => {
    const params = { siteId: site.id };
    return scope === 'site'
      ? all.run({ params, query: { soft } })
      : some.run({ params, body: { type: listed[scope].type, urls: lines, soft } });
  };
  const submit = async () => {
    setTried(true);
    if (!isValid || !(await isConfirmed({ scope, soft, count: lines.length }))) return;
    try {
      const started = await send();
      if (!started) return;
      follow(started.jobID, site.id);
      onStarted(started.jobID);
      setText('');
      setTried(false);
    } catch (error) {
      const found = lineErrorsOf(error);
      setRefused(found);
      if (found.size === 0) toastError(error);
    }
  };
  return {
    scope,
    chooseScope: (chosen: Scope) => {
      setScope(chosen);
      setTried(false);
      setRefused(new Map());
    },
    text,
    type: (typed: string) => {
      setText(typed);
      setRefused(new Map());
    },
    leave: () => lines.length > 0 && setTried(true),
    soft,
    setSoft,
    isTried,
    lines,
    invalid,
    isRunning: some.running || all.running,
    submit,
  };
}

/** Asks before whole hosts or the site are purged. A soft purge needs no question. */
function useConfirmation(siteName: string) {
  const t = useT();
  const confirm = useConfirm();
  return ({ scope, soft, count }: { scope: Scope; soft: boolean; count: number }) => {
    const points = [t('purge.originPoint'), t('purge.offlinePoint')];
    if (scope === 'site' && !soft)
      return confirm({ title: t('purge.siteTitle', { name: siteName }), points, verb: t('purge.submitSite') });
    if (scope === 'hosts' && !soft)
      return confirm({
        title: t('purge.hostsTitle', { count }),
        points,
        verb: t('purge.submit.hosts', { count }),
      });
    return true;
  };
}

/** Errors of a response by the index of the line. */
const lineErrorsOf = (error: unknown): ReadonlyMap<number, string> =>
  new Map(
    fieldErrorsOf(error).flatMap(({ path, rule, message }) => {
      const [field, index] = path.split('.');
      return field === 'urls' && index !== undefined ? [[Number(index), ruleText(rule, message)] as const] : [];
    }),
  );
