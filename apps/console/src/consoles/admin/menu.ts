import { mailbox } from '@edgeloom/contract/auth/auth.calls.ts';
import { IconLayoutDashboard, IconMail } from '@tabler/icons-react';
import type { MenuGroup } from '../../components/frame/menu.ts';
import { accountGroup } from '../account-group.ts';

export const menu: readonly MenuGroup[] = [
  {
    entries: [
      { to: 'dashboard', title: 'dashboard.title', icon: IconLayoutDashboard, key: 'd' },
      { to: 'mailbox', title: 'mailbox.title', icon: IconMail, answers: mailbox.list },
    ],
  },
  accountGroup({ users: 'userManagement/users', creates: 'accounts.adding.operators' }),
];
