import { purgeSites } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { useConfirm } from '../../components/confirm/confirm.tsx';
import { useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { follow } from '../../stores/jobs.ts';
import { toast } from '../../stores/toasts.ts';

interface Named {
  id: string;
  name: string;
}
type Wanted = 'normal' | 'pause' | 'lock';

/** What an operator does to whole sites. What turns visitors away is asked first. */
export function useSiteActions() {
  const t = useT();
  const confirm = useConfirm();
  const status = useAction(clientSites.status, { refreshes: ['sites'] });
  const purge = useAction(purgeSites.all, { refreshes: ['purge'] });

  const points = {
    normal: [],
    pause: ['sites.points.stops', 'sites.points.keeps'],
    lock: ['sites.points.stops', 'sites.points.lockOnlyYou', 'sites.points.keeps'],
  } as const;
  const typed = (rows: readonly Named[]) => (rows.length > 10 ? String(rows.length) : undefined);

  const setStatus = async (rows: readonly Named[], wanted: Wanted) => {
    const count = rows.length;
    const sure =
      wanted === 'normal' ||
      (await confirm({
        title: t(wanted === 'pause' ? 'sites.pauseTitle' : 'sites.lockTitle', { count }),
        points: [
          ...(count <= 5 ? [rows.map(({ name }) => name).join(t('common.comma'))] : []),
          ...points[wanted].map((point) => t(point)),
        ],
        verb: t(`sites.actions.${wanted}`),
        type: typed(rows),
      }));
    if (sure && (await status.run({ body: { siteIDs: rows.map(({ id }) => id), status: wanted } })))
      toast({ text: t(`sites.done.${wanted}`) });
  };

  const purgeAll = async (rows: readonly Named[]) => {
    const sure = await confirm({
      title: t('sites.purgeTitle', { count: rows.length }),
      points: [t('sites.points.origin')],
      verb: t('sites.actions.purge'),
      type: typed(rows),
    });
    const reply = sure && (await purge.run({ body: { siteIDs: rows.map(({ id }) => id) } }));
    if (!reply) return;
    for (const [i, jobID] of reply.jobIDs.entries()) {
      const site = rows[i];
      if (site) follow(jobID, site.id);
    }
    toast({ text: t('sites.done.purge') });
  };
  return { setStatus, purgeAll };
}
