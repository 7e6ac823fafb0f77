import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import { apiTokens, mailbox } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import {
  IconApi,
  IconHistory,
  IconLayoutDashboard,
  IconMail,
  IconUserCircle,
  IconUsers,
  IconUserShield,
} from '@tabler/icons-react';
import type { MenuGroup } from '../../components/frame/menu.ts';

export const menu: readonly MenuGroup[] = [
  {
    entries: [
      { to: 'dashboard', title: 'dashboard.title', icon: IconLayoutDashboard, key: 'd' },
      { to: 'mailbox', title: 'mailbox.title', icon: IconMail, answers: mailbox.list },
    ],
  },
  {
    title: 'frame.groups.account',
    entries: [
      { to: 'userManagement/userInformation', title: 'userInformation.title', icon: IconUserCircle },
      { to: 'userManagement/users', title: 'accounts.title', icon: IconUsers, reads: accounts.list },
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
