import { consoleRoutes, earlyPage, page } from '../routes.tsx';

export const routes = consoleRoutes(
  () => import('./frame.tsx'),
  [
    {
      path: 'dashboard',
      lazy: earlyPage(() => import('../../features/dashboard/admin-dashboard-page.tsx'), 'AdminDashboardPage'),
    },
    {
      path: 'userManagement/logOperation',
      lazy: page(() => import('../../features/audit/audit-page.tsx'), 'AuditPage'),
    },
    { path: 'licenses', lazy: page(() => import('../../features/licenses/licenses-page.tsx'), 'LicensesPage') },
    {
      path: 'offlineLicense',
      lazy: page(() => import('../../features/licenses/offline-licenses-page.tsx'), 'OfflineLicensesPage'),
    },
    { path: 'mailbox', lazy: page(() => import('../../features/mailbox/mailbox-page.tsx'), 'MailboxPage') },
    {
      path: 'userManagement/userInformation',
      lazy: page(() => import('../../features/user-information/user-information-page.tsx'), 'UserInformationPage'),
    },
    { path: 'userManagement/roles', lazy: page(() => import('../../features/roles/roles-page.tsx'), 'RolesPage') },
    {
      path: 'userManagement/apiTokenSetting',
      lazy: page(() => import('../../features/api-tokens/api-tokens-page.tsx'), 'ApiTokensPage'),
    },
    { path: 'userManagement/users', lazy: page(() => import('../../features/accounts/users-page.tsx'), 'UsersPage') },
    {
      path: 'userManagement/users/:id',
      lazy: page(() => import('../../features/accounts/account-page.tsx'), 'AccountPage'),
    },
  ],
);
