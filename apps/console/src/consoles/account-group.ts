import { accounts } from '@edgeloom/contract/accounts/accounts.calls.ts';
import { audit } from '@edgeloom/contract/audit/audit.calls.ts';
import { apiTokens } from '@edgeloom/contract/auth/auth.calls.ts';
import { roles } from '@edgeloom/contract/roles/roles.calls.ts';
import { IconApi, IconHistory, IconUserCircle, IconUsers, IconUserShield } from '@tabler/icons-react';
import type { Word } from '../lib/i18n.ts';
import type { MenuEntry, MenuGroup } from '../components/frame/menu.ts';

interface AccountGroup {
  /** Path of the console's list of users. */
  users: string;
  /** Label of what the first tab creates. */
  creates: Word;
  /** Further entries. */
  more?: readonly MenuEntry[];
}

/** The last group of each console's menu: own account, users, roles, operation log. */
export const accountGroup = ({ users, creates, more = [] }: AccountGroup): MenuGroup => ({
  title: 'frame.groups.account',
  entries: [
    { to: 'userManagement/userInformation', title: 'userInformation.title', icon: IconUserCircle },
    {
      to: users,
      title: 'accounts.title',
      icon: IconUsers,
      reads: accounts.list,
      creates: { call: accounts.create, title: creates },
    },
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
      creates: { call: apiTokens.create, title: 'palette.creates.apiToken' },
    },
    { to: 'userManagement/logOperation', title: 'audit.title', icon: IconHistory, reads: audit.search },
    ...more,
  ],
});
