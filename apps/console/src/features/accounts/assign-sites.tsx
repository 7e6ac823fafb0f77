import { siteUsers } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { clientSites, ownSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { IconWorld, IconWorldMinus, IconWorldPlus } from '@tabler/icons-react';
import { does } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Status } from '../../components/status/status.tsx';
import { family } from '../../lib/family.ts';
import { siteAddress } from '../../lib/site-address.ts';
import type { Account } from './account.ts';

interface Site {
  id: string;
  name: string;
  status: string;
}
const columns: Column<Site>[] = [
  { key: 'name', to: (site) => siteAddress(site) },
  { key: 'status', render: ({ status }) => <Status kind="site" value={status} /> },
  { key: 'productName', sort: false },
  { key: 'tags', as: 'tags', sort: false, priority: 2, flexible: true },
];

/** The customer's sites that a sub-account sees, or those that can be assigned. */
export function AssignSites({ account, assigned }: { account: Account; assigned: boolean }) {
  const idsOf = (sites: readonly Site[]) => sites.map(({ id }) => id);
  const bodyOf = (siteIDs: string[]) => ({ body: { siteIDs, userIDs: [account.id] } });
  const change = does<Site, typeof siteUsers.assign>(assigned ? siteUsers.unassign : siteUsers.assign, {
    label: assigned ? 'accounts.actions.unassign' : 'accounts.actions.assign',
    icon: assigned ? IconWorldMinus : IconWorldPlus,
    done: assigned ? 'accounts.done.unassign' : 'accounts.done.assign',
    refreshes: ['sites'],
    send: (sites) => bodyOf(idsOf(sites)),
    undo: (sites) => [
      {
        ids: idsOf(sites),
        endpoint: assigned ? siteUsers.assign : siteUsers.unassign,
        send: (ids) => bodyOf([...ids]),
      },
    ],
  });
  const actions = account.manageable ? [change] : [];
  const shared = {
    words: 'sites',
    columns,
    row: () => actions,
    bulk: actions,
    phone: ({ status }: Site) => ({ below: <Status kind="site" value={status} />, end: null }),
    empty: { icon: IconWorld },
  };
  const which = assigned ? { assignedTo: account.id } : { notAssignedTo: account.id };
  return family === 'user' ? (
    <ResourceTable endpoint={ownSites.list} search="siteName" query={which} {...shared} />
  ) : (
    <ResourceTable
      endpoint={clientSites.list}
      search="name"
      query={{ ...which, userID: account.parentID ?? '' }}
      {...shared}
    />
  );
}
