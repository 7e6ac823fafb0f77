import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import { apiTokens } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import { ownSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import {
  IconApi,
  IconHistory,
  IconLayoutDashboard,
  IconUserCircle,
  IconUserShield,
  IconWorld,
  IconUsers,
} from '@tabler/icons-react';
import type { MenuGroup } from '../../components/frame/menu.ts';

export const menu: readonly MenuGroup[] = [
  {
    entries: [
      { to: 'dashboard', title: 'dashboard.title', icon: IconLayoutDashboard, key: 'd' },
      { to: 'sitesManagement', title: 'sites.title', icon: IconWorld, reads: ownSites.list, key: 's' },
    ],
  },
  {
    title: 'frame.groups.account',
    entries: [
      { to: 'userManagement/userInformation', title: 'userInformation.title', icon: IconUserCircle },
      { to: 'userManagement/usersList', title: 'accounts.title', icon: IconUsers, reads: accounts.list },
      {
        to: 'userManagement/roles',
        title: 'roles.title',
        icon: IconUserShield,
        reads: roles.list,
        creates: { call: roles.create, title: 'roles.create' },
      },
      {
        to: 'userManagement/apiTokenSetting',
        title: 'apiTokens.title',
        icon: IconApi,
        reads: apiTokens.list,
        creates: { call: apiTokens.create, title: 'apiTokens.create' },
      },
      { to: 'userManagement/logOperation', title: 'audit.title', icon: IconHistory, reads: audit.search },
    ],
  },
];
