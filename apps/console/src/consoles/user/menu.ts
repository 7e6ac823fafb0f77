import { ownSites } from '@edgeloom/contract/sites/sites.calls.ts';
import { IconLayoutDashboard, IconWorld } from '@tabler/icons-react';
import type { MenuGroup } from '../../components/frame/menu.ts';
import { accountGroup } from '../account-group.ts';
import { analyticsGroup } from '../analytics-group.ts';

export const menu: readonly MenuGroup[] = [
  {
    entries: [
      { to: 'dashboard', title: 'dashboard.title', icon: IconLayoutDashboard, key: 'd' },
      { to: 'sitesManagement', title: 'sites.title', icon: IconWorld, reads: ownSites.list, key: 's' },
    ],
  },
  analyticsGroup,
  accountGroup({ users: 'userManagement/usersList', creates: 'accounts.adding.subs' }),
];
