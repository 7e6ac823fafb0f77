import { redirect } from 'react-router-dom';
import { to } from '../../lib/family.ts';
import { consoleRoutes, earlyPage, lastSiteRoute, page } from '../routes.tsx';

export const routes = consoleRoutes(
  () => import('./frame.tsx'),
  [
    {
      path: 'dashboard',
      lazy: earlyPage(() => import('../../features/dashboard/client-dashboard-page.tsx'), 'ClientDashboardPage'),
    },
    { path: 'nodeManage', loader: () => redirect(to('nodeManage/zonesList')), element: null },
    { path: 'nodeManage/zonesList', lazy: page(() => import('../../features/zones/zones-page.tsx'), 'ZonesPage') },
    { path: 'nodeManage/zonesList/:zoneId', lazy: page(() => import('./zone-view.tsx'), 'ZoneView') },
    { path: 'nodeManage/nodesList', lazy: page(() => import('../../features/nodes/nodes-page.tsx'), 'NodesPage') },
    {
      path: 'nodeManage/nodesList/:nodeID',
      lazy: page(() => import('../../features/nodes/node-page.tsx'), 'NodePage'),
    },
    {
      path: 'nodeManage/nodesList/:nodeID/install',
      lazy: page(() => import('../../features/node-jobs/install-page.tsx'), 'InstallPage'),
    },
    {
      path: 'nodeManage/nodesList/:nodeID/job/:jobID',
      lazy: page(() => import('../../features/node-jobs/node-job-page.tsx'), 'NodeJobPage'),
    },
    {
      path: 'nodeManage/resolutionTitle',
      lazy: page(() => import('../../features/groups/groups-page.tsx'), 'GroupsPage'),
    },
    {
      path: 'nodeManage/vNode',
      lazy: page(() => import('../../features/virtual-nodes/virtual-nodes-page.tsx'), 'VirtualNodesPage'),
    },
    {
      path: 'monitorManagement/monitorNodeList',
      lazy: page(() => import('../../features/monitors/monitor-nodes-page.tsx'), 'MonitorNodesPage'),
    },
    {
      path: 'monitorManagement/monitorNodeGroup',
      lazy: page(() => import('../../features/monitors/monitor-groups-page.tsx'), 'MonitorGroupsPage'),
    },
    {
      path: 'nodeManage/rollouts',
      lazy: page(() => import('../../features/rollouts/rollouts-page.tsx'), 'RolloutsPage'),
    },
    {
      path: 'nodeManage/rollouts/:rolloutID',
      lazy: page(() => import('../../features/rollouts/rollout-page.tsx'), 'RolloutPage'),
    },
    {
      path: 'nodeManage/productsList',
      lazy: page(() => import('../../features/products/products-page.tsx'), 'ProductsPage'),
    },
    { path: 'nodeManage/sitesList', lazy: page(() => import('../../features/sites/sites-page.tsx'), 'SitesPage') },
    {
      path: 'nodeManage/domains',
      lazy: page(() => import('../../features/domains/all-domains-page.tsx'), 'AllDomainsPage'),
    },
    {
      path: 'nodeManage/autoSSLManagement',
      lazy: page(() => import('../../features/certificates/auto-certificates-page.tsx'), 'AutoCertificatesPage'),
    },
    lastSiteRoute('nodeManage/sitesSetting'),
    {
      path: 'nodeManage/sitesSetting/:siteId/:name?/:domainName?',
      lazy: page(() => import('../site-page.tsx'), 'SitePage'),
    },
    {
      path: 'trafficPkgManagement/trafficPkgList',
      lazy: page(() => import('../../features/traffic/traffic-packages-page.tsx'), 'TrafficPackagesPage'),
    },
    {
      path: 'trafficPkgManagement/trafficReport',
      lazy: page(() => import('../../features/traffic/traffic-report-page.tsx'), 'TrafficReportPage'),
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
    { path: 'DNSSetting', lazy: page(() => import('../../features/dns-setting/first-dns-page.tsx'), 'FirstDnsPage') },
    { path: 'dataAnalysis/logger', lazy: page(() => import('../../features/logs/logs-page.tsx'), 'LogsPage') },
    {
      path: 'dataAnalysis/logExport',
      lazy: page(() => import('../../features/log-exports/log-exports-page.tsx'), 'LogExportsPage'),
    },
    {
      path: 'systemManagement/dnsSetting',
      lazy: page(() => import('../../features/dns-setting/dns-setting-page.tsx'), 'DnsSettingPage'),
    },
    {
      path: 'systemManagement/cname',
      lazy: page(() => import('../../features/dns-setting/cnames-page.tsx'), 'CnamesPage'),
    },
    {
      path: 'systemManagement/systemSetting',
      lazy: page(() => import('../../features/system-setting/system-setting-page.tsx'), 'SystemSettingPage'),
    },
    {
      path: 'systemManagement/notifySetting',
      lazy: page(() => import('../../features/notify-setting/notify-setting-page.tsx'), 'NotifySettingPage'),
    },
    {
      path: 'systemManagement/webhooks',
      lazy: page(() => import('../../features/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
    },
    {
      path: 'systemManagement/nginxSetting',
      lazy: page(() => import('../../features/zone-settings/nginx-defaults-page.tsx'), 'NginxDefaultsPage'),
    },
    {
      path: 'systemManagement/health',
      lazy: page(() => import('../../features/client-health/client-health-page.tsx'), 'ClientHealthPage'),
    },
    {
      path: 'systemManagement/predefinedSetting',
      lazy: page(
        () => import('../../features/predefined-setting/predefined-setting-page.tsx'),
        'PredefinedSettingPage',
      ),
    },
    {
      path: 'systemManagement/errorSetting',
      lazy: page(
        () => import('../../features/default-error-pages/default-error-pages-page.tsx'),
        'DefaultErrorPagesPage',
      ),
    },
    {
      path: 'systemManagement/systemUpgrade',
      lazy: page(() => import('../../features/upgrades/upgrades-page.tsx'), 'UpgradesPage'),
    },
    {
      path: 'userManagement/customizeLogo',
      lazy: page(() => import('../../features/branding/branding-page.tsx'), 'BrandingPage'),
    },
    {
      path: 'userManagement/announcementSetting',
      lazy: page(() => import('../../features/announcements/announcement-setting-page.tsx'), 'AnnouncementSettingPage'),
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
    { path: 'userManagement/users', lazy: page(() => import('../../features/accounts/users-page.tsx'), 'UsersPage') },
    {
      path: 'userManagement/users/:id',
      lazy: page(() => import('../../features/accounts/account-page.tsx'), 'AccountPage'),
    },
  ],
);
