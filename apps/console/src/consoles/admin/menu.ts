import { mailbox } from '@edgeloom/contract/auth/auth.calls.ts';
import { licenseOffers } from '@edgeloom/contract/licenses/licenses.calls.ts';
import { offlineLicenses } from '@edgeloom/contract/licenses/offline-licenses.calls.ts';
import { IconFileCertificate, IconLayoutDashboard, IconLicense, IconMail } from '@tabler/icons-react';
import type { MenuGroup } from '../../components/frame/menu.ts';
import { accountGroup } from '../account-group.ts';

export const menu: readonly MenuGroup[] = [
  {
    entries: [
      { to: 'dashboard', title: 'dashboard.title', icon: IconLayoutDashboard, key: 'd' },
      {
        to: 'licenses',
        title: 'licenseOffers.title',
        icon: IconLicense,
        reads: licenseOffers.list,
        creates: { call: licenseOffers.create, title: 'licenseOffers.create' },
      },
      {
        to: 'offlineLicense',
        title: 'offlineLicenses.title',
        icon: IconFileCertificate,
        reads: offlineLicenses.list,
        creates: { call: offlineLicenses.create, title: 'offlineLicenses.create' },
      },
      { to: 'mailbox', title: 'mailbox.title', icon: IconMail, answers: mailbox.list },
    ],
  },
  accountGroup({ users: 'userManagement/users', creates: 'accounts.adding.operators' }),
];
