// Links of the dashboard's items: lists with a filter for the counted rows.
import type { attention } from '@edgeloom/contract/attention/attention.calls.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { sitePath } from '../../components/frame/site-scope.ts';
import type { Family } from '../../lib/family.ts';
import { modulePages } from '../../lib/module-pages.ts';

export type AttentionItem = Received<typeof attention.list>['data'][number];

const INSTALLATION_LICENSE = 'offlineLicense?tab=installation';
const lists: Partial<Record<AttentionItem['kind'], string>> = {
  nodesRejected: 'nodeManage/nodesList?status=rejected',
  nodesOffline: 'nodeManage/nodesList?status=offline',
  nodesFailingMonitors: 'nodeManage/nodesList?failingMonitors=true',
  nodesDisconnected: 'nodeManage/nodesList?status=natsError',
  monitorsOffline: 'monitorManagement/monitorNodeList?offline=true',
  nodesBehind: 'nodeManage/nodesList?behind=true',
  nodesLosingLogs: 'nodeManage/nodesList?logsLost=true',
  nodeJobsFailed: 'nodeManage/nodesList?jobFailed=true',
  rolloutsStopped: 'nodeManage/rollouts?stopped=true',
  licenseEnding: 'userManagement/users',
  licenseNearLimit: 'userManagement/users',
  installationLicenseEnded: INSTALLATION_LICENSE,
  installationLicenseEnding: INSTALLATION_LICENSE,
  installationLicenseMoved: INSTALLATION_LICENSE,
  installationLicenseNearLimit: INSTALLATION_LICENSE,
};
/** Lists over all sites, which only operators have. */
const overSites: Partial<Record<AttentionItem['kind'], string>> = {
  cnameInactive: 'nodeManage/domains?enabled=true&cnameStatuses=inactive',
  certificatesMissing: 'nodeManage/domains?enabled=true&certificateMissing=true',
  certificatesFailed: 'nodeManage/autoSSLManagement?status=fail',
};
/**
 * Jobs that order certificates are listed as their certificates. The contract's `cacheJobKinds` are written out, or zod
 * would come with them into the dashboard's first script.
 */
export const cacheJobs = 'kind=purgeSite,purgeHosts,purgeURLs,purgePrefixes,purgeTags,preheat';
const inSite: Partial<Record<AttentionItem['kind'], { view: string; filter: string }>> = {
  cnameInactive: { view: 'domains', filter: 'enabled=true&cnameStatuses=inactive' },
  certificatesMissing: { view: 'domains', filter: 'enabled=true&certificateMissing=true' },
  certificatesFailed: { view: 'certs', filter: 'status=fail' },
  certificatesEnding: { view: 'certs', filter: 'ending=true' },
  jobsFailed: { view: 'jobs', filter: `state=failed&recent=true&${cacheJobs}` },
};

export function placeOf({ kind, site, moduleKind, accountID }: AttentionItem, family: Family) {
  if (site && moduleKind) return sitePath(family, site, modulePages[moduleKind].view);
  if (accountID !== null) return `userManagement/users/${accountID}`;
  const list = lists[kind] ?? (family === 'client' ? overSites[kind] : undefined);
  if (list !== undefined) return list;
  const view = inSite[kind];
  if (site && view) return `${sitePath(family, site, view.view)}&${view.filter}`;
  return `${family === 'user' ? 'sitesManagement' : 'nodeManage/sitesList'}?attention=${kind}`;
}
