import { consoleRoutes, page } from '../routes.tsx';

export const routes = consoleRoutes(
  () => import('./frame.tsx'),
  [
    {
      path: 'dashboard',
      lazy: page(() => import('../../features/dashboard/admin-dashboard-page.tsx'), 'AdminDashboardPage'),
    },
    { path: 'mailbox', lazy: page(() => import('../../features/mailbox/mailbox-page.tsx'), 'MailboxPage') },
    {
      path: 'userManagement/userInformation',
      lazy: page(() => import('../../features/user-information/user-information-page.tsx'), 'UserInformationPage'),
    },
  ],
);
