import { purgeSites } from '@edgeloom/contract/purge/purge.endpoints.ts';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import {
  IconArrowBackUp,
  IconArrowsSplit2,
  IconEraser,
  IconLock,
  IconPlayerPause,
  IconPlayerPlay,
  type Icon,
} from '@tabler/icons-react';
import { backTo, does, type CallAction } from '../../components/resource-table/actions.tsx';
import { t, type Word } from '../../lib/i18n.ts';
import { follow } from '../../stores/jobs.ts';

export type Site = RowOf<typeof clientSites.list>;
type Wanted = 'normal' | 'pause' | 'lock';

const idsOf = (rows: readonly Site[]) => rows.map(({ id }) => id);
/** States that an operator sets; others follow from limits and dates. */
const canReturn = ({ status }: Site) => status === 'normal' || status === 'pause' || status === 'lock';

const statusBody = (siteIDs: readonly string[], status: string) => ({ body: { siteIDs, status } });

/** Asks before actions that stop traffic. */
const setStatus = (wanted: Wanted, icon: Icon, points: readonly Word[]): CallAction<Site> =>
  does(clientSites.status, {
    label: `sites.actions.${wanted}`,
    icon,
    danger: wanted !== 'normal',
    refreshes: ['sites'],
    done: `sites.done.${wanted}`,
    applies: ({ status }) => status !== wanted,
    send: (rows) => ({ body: { siteIDs: idsOf(rows), status: wanted } }),
    undo: (rows) => [
      // A locked site cannot be paused directly.
      ...(wanted === 'lock'
        ? backTo(
            rows.filter(({ status }) => status === 'pause'),
            () => 'normal',
            statusBody,
          )
        : []),
      ...backTo(rows.filter(canReturn), ({ status }) => status, statusBody),
    ],
    confirm:
      wanted === 'normal'
        ? null
        : ({ length: count }) => ({
            title: t(wanted === 'pause' ? 'sites.pauseTitle' : 'sites.lockTitle', { count }),
            points: points.map((point) => t(point)),
          }),
  });

export const resuming = setStatus('normal', IconPlayerPlay, []);
export const pausing = setStatus('pause', IconPlayerPause, ['sites.points.stops', 'sites.points.keeps']);
export const locking = setStatus('lock', IconLock, [
  'sites.points.stops',
  'sites.points.lockOnlyYou',
  'sites.points.keeps',
]);

/** Switches DNS to the backup group. Current visitors stay until their resolver's cache expires. */
const forceBackup = (enabled: boolean): CallAction<Site> =>
  does(clientSites.forceBackup, {
    label: enabled ? 'sites.actions.force' : 'sites.actions.lift',
    icon: enabled ? IconArrowsSplit2 : IconArrowBackUp,
    danger: enabled,
    refreshes: ['sites'],
    done: enabled ? 'sites.done.force' : 'sites.done.lift',
    applies: ({ forcedAt, backupGroupID }) =>
      enabled ? forcedAt === null && backupGroupID !== null : forcedAt !== null,
    send: (rows) => ({ body: { siteIDs: rows.map(({ id }) => id), enabled } }),
    undo: (rows) => [{ ids: idsOf(rows), send: (siteIDs) => ({ body: { siteIDs, enabled: !enabled } }) }],
    confirm: enabled
      ? ({ length: count }) => ({
          title: t('sites.forceTitle', { count }),
          points: [t('sites.points.forced'), t('sites.points.ttl')],
        })
      : null,
  });
export const forcing = forceBackup(true);
export const lifting = forceBackup(false);

export const purging: CallAction<Site> = does(purgeSites.all, {
  label: 'sites.actions.purge',
  icon: IconEraser,
  refreshes: ['purge'],
  done: 'sites.done.purge',
  send: (rows) => ({ body: { siteIDs: rows.map(({ id }) => id) } }),
  confirm: ({ length: count }) => ({ title: t('sites.purgeTitle', { count }), points: [t('sites.points.origin')] }),
  after({ jobIDs }, rows) {
    for (const [i, jobID] of jobIDs.entries()) {
      const site = rows[i];
      if (site) follow(jobID, site.id);
    }
  },
});
