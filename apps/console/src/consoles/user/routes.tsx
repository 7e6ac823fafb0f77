import { consoleRoutes, earlyPage, lastSiteRoute, page } from '../routes.tsx';

export const routes = consoleRoutes(
  () => import('./frame.tsx'),
  [
    {
      path: 'dashboard',
      lazy: earlyPage(() => import('../../features/dashboard/user-dashboard-page.tsx'), 'UserDashboardPage'),
    },
    { path: 'sitesManagement', lazy: page(() => import('../../features/sites/own-sites-page.tsx'), 'OwnSitesPage') },
    lastSiteRoute('sitesManagement/sitesSetting'),
    {
      path: 'sitesManagement/sitesSetting/:siteId/:name?/:domainName?',
      lazy: page(() => import('../site-page.tsx'), 'SitePage'),
    },
    { path: 'dataAnalysis/logger', lazy: page(() => import('../../features/logs/logs-page.tsx'), 'LogsPage') },
    {
      path: 'dataAnalysis/logExport',
      lazy: page(() => import('../../features/log-exports/log-exports-page.tsx'), 'LogExportsPage'),
    },
    {
      path: 'dataAnalysis/blockIPs',
      lazy: page(() => import('../../features/block-ips/block-ips-page.tsx'), 'BlockIPsPage'),
    },
    {
      path: 'dataAnalysis/statistics',
      lazy: page(() => import('../../features/statistics/statistics-page.tsx'), 'StatisticsPage'),
    },
    {
      path: 'dataAnalysis/securityAnalysis',
      lazy: page(() => import('../../features/statistics/security-analysis-page.tsx'), 'SecurityAnalysisPage'),
    },
    {
      path: 'dataAnalysis/l4AttackAnalysis',
      lazy: page(() => import('../../features/statistics/layer4-page.tsx'), 'Layer4Page'),
    },
    {
      path: 'trafficPkgManagement/trafficPkgList',
      lazy: page(() => import('../../features/traffic/own-traffic-page.tsx'), 'OwnTrafficPage'),
    },
    {
      path: 'systemManagement/notifySetting',
      lazy: page(() => import('../../features/notify-setting/notify-setting-page.tsx'), 'NotifySettingPage'),
    },
    {
      path: 'userManagement/roles',
      lazy: page(() => import('../../features/roles/roles-page.tsx'), 'RolesPage'),
    },
    {
      path: 'userManagement/apiTokenSetting',
      lazy: page(() => import('../../features/api-tokens/api-tokens-page.tsx'), 'ApiTokensPage'),
    },
    {
      path: 'userManagement/logOperation',
      lazy: page(() => import('../../features/audit/audit-page.tsx'), 'AuditPage'),
    },
    {
      path: 'userManagement/userInformation',
      lazy: page(() => import('../../features/user-information/user-information-page.tsx'), 'UserInformationPage'),
    },
    {
      path: 'userManagement/usersList',
      lazy: page(() => import('../../features/accounts/users-page.tsx'), 'UsersPage'),
    },
    {
      path: 'userManagement/usersList/:id',
      lazy: page(() => import('../../features/accounts/account-page.tsx'), 'AccountPage'),
    },
  ],
);
