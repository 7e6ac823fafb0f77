import { consoleRoutes, page } from '../routes.tsx';

export const routes = consoleRoutes(() => import('./frame.tsx'), [
  { path: 'dashboard', lazy: page(() => import('../../features/dashboard/client-dashboard-page.tsx'), 'ClientDashboardPage') },
  { path: 'nodeManage/sitesSetting/:siteId/:name?/:domainName?', lazy: page(() => import('../site-page.tsx'), 'SitePage') },
]);
