import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { useConfirm } from '../../components/confirm/confirm.tsx';
import { useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { toast } from '../../stores/toasts.ts';

interface Switched {
  id: string;
  name: string;
}

/** On is at once; off asks, for visitors are turned away. Both can be undone from the toast. */
export function useSwitchDomains(siteId: string) {
  const t = useT();
  const confirm = useConfirm();
  const { run, running } = useAction(domains.status, { refreshes: ['sites'] });

  const set = async (rows: readonly Switched[], enabled: boolean): Promise<boolean> => {
    const done = await run({ params: { siteId }, body: { ids: rows.map(({ id }) => id), enabled } });
    if (!done) return false;
    toast({
      text: t(enabled ? 'domains.turnedOn' : 'domains.turnedOff', { count: rows.length }),
      action: { label: t('common.undo'), run: () => void set(rows, !enabled) },
    });
    return true;
  };

  const turn = async (rows: readonly Switched[], enabled: boolean) => {
    const [first] = rows;
    if (!first) return false;
    const sure =
      enabled ||
      (await confirm({
        title:
          rows.length === 1
            ? t('domains.turnOffNamed', { name: first.name })
            : t('domains.turnOffTitle', { count: rows.length }),
        points: [t('domains.turnOffPoint'), t('domains.turnOffKeeps')],
        verb: t('common.turnOff'),
      }));
    return sure && set(rows, enabled);
  };
  return { turn, running };
}
