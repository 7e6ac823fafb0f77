import { alerts } from '@edgeloom/contract/alerts/alerts.calls.ts';
import { announcementSetting } from '@edgeloom/contract/announcements/announcements.calls.ts';
import { branding } from '@edgeloom/contract/branding/branding.calls.ts';
import { clientHealth } from '@edgeloom/contract/client-health/client-health.calls.ts';
import { autoCertificates } from '@edgeloom/contract/certificates/certificates.calls.ts';
import { defaultErrorPages } from '@edgeloom/contract/default-error-pages/default-error-pages.calls.ts';
import { clientDomains } from '@edgeloom/contract/domains/domains.calls.ts';
import { cnames, dnsSetting } from '@edgeloom/contract/dns-setting/dns-setting.calls.ts';
import { webhooks } from '@edgeloom/contract/webhooks/webhooks.calls.ts';
import { emailSetting } from '@edgeloom/contract/email-setting/email-setting.calls.ts';
import { groups } from '@edgeloom/contract/groups/groups.calls.ts';
import { monitorGroups, monitorNodes } from '@edgeloom/contract/monitors/monitors.calls.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.calls.ts';
import { predefinedSetting } from '@edgeloom/contract/predefined-setting/predefined-setting.calls.ts';
import { products } from '@edgeloom/contract/products/products.calls.ts';
import { rollouts, upgrades } from '@edgeloom/contract/rollouts/rollouts.calls.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.calls.ts';
import { trafficPackages, trafficUsage } from '@edgeloom/contract/traffic/traffic.calls.ts';
import { virtualNodes } from '@edgeloom/contract/virtual-nodes/virtual-nodes.calls.ts';
import { nginxDefaults } from '@edgeloom/contract/zone-settings/zone-settings.calls.ts';
import { zones } from '@edgeloom/contract/zones/zones.calls.ts';
import {
  IconAddressBook,
  IconArrowRampRight,
  IconBell,
  IconBox,
  IconCertificate,
  IconCloudNetwork,
  IconCloudUp,
  IconCode,
  IconGauge,
  IconFileAlert,
  IconHeartbeat,
  IconLayoutDashboard,
  IconMapPins,
  IconPalette,
  IconReceipt,
  IconRadar2,
  IconRoute,
  IconServer2,
  IconSettings,
  IconSpeakerphone,
  IconStairs,
  IconTemplate,
  IconWebhook,
  IconTopologyStar,
  IconWorld,
  IconWorldWww,
} from '@tabler/icons-react';
import type { MenuGroup } from '../../components/frame/menu.ts';
import { accountGroup } from '../account-group.ts';
import { analyticsGroup } from '../analytics-group.ts';

export const menu: readonly MenuGroup[] = [
  { entries: [{ to: 'dashboard', title: 'dashboard.title', icon: IconLayoutDashboard, key: 'd' }] },
  {
    title: 'frame.groups.network',
    entries: [
      {
        to: 'nodeManage/zonesList',
        title: 'zones.title',
        icon: IconMapPins,
        reads: zones.list,
        creates: { call: zones.create, title: 'zones.create' },
      },
      {
        to: 'nodeManage/nodesList',
        title: 'nodes.title',
        icon: IconServer2,
        reads: nodes.list,
        key: 'n',
        creates: { call: nodes.create, title: 'nodes.create', form: 'nodeManage/nodesList/new/install' },
      },
      {
        to: 'nodeManage/resolutionTitle',
        title: 'groups.title',
        icon: IconRoute,
        reads: groups.list,
        creates: { call: groups.create, title: 'groups.create' },
      },
      {
        to: 'nodeManage/vNode',
        title: 'virtualNodes.title',
        icon: IconCloudNetwork,
        reads: virtualNodes.list,
        creates: { call: virtualNodes.create, title: 'virtualNodes.create' },
      },
      {
        to: 'monitorManagement/monitorNodeList',
        title: 'monitorNodes.title',
        icon: IconRadar2,
        reads: monitorNodes.list,
        creates: { call: monitorNodes.create, title: 'monitorNodes.create' },
      },
      {
        to: 'monitorManagement/monitorNodeGroup',
        title: 'monitorGroups.title',
        icon: IconTopologyStar,
        reads: monitorGroups.list,
        creates: { call: monitorGroups.create, title: 'monitorGroups.create' },
      },
      { to: 'nodeManage/rollouts', title: 'rollouts.title', icon: IconStairs, reads: rollouts.list },
    ],
  },
  {
    title: 'frame.groups.products',
    entries: [
      {
        to: 'nodeManage/productsList',
        title: 'products.title',
        icon: IconBox,
        reads: products.list,
        creates: { call: products.create, title: 'products.create' },
      },
      {
        to: 'nodeManage/sitesList',
        title: 'sites.title',
        icon: IconWorld,
        reads: clientSites.list,
        also: ['nodeManage/sitesSetting'],
        key: 's',
        creates: { call: clientSites.create, title: 'sites.create' },
      },
      { to: 'nodeManage/domains', title: 'domains.title', icon: IconWorldWww, reads: clientDomains.list },
      {
        to: 'nodeManage/autoSSLManagement',
        title: 'autoCertificates.title',
        icon: IconCertificate,
        reads: autoCertificates.list,
      },
    ],
  },
  {
    title: 'frame.groups.traffic',
    entries: [
      {
        to: 'trafficPkgManagement/trafficPkgList',
        title: 'trafficPackages.title',
        icon: IconGauge,
        reads: trafficPackages.list,
        creates: { call: trafficPackages.create, title: 'trafficPackages.create' },
      },
      {
        to: 'trafficPkgManagement/trafficReport',
        title: 'trafficUsage.title',
        icon: IconReceipt,
        reads: trafficUsage.report,
      },
    ],
  },
  analyticsGroup,
  {
    title: 'frame.groups.system',
    entries: [
      {
        to: 'systemManagement/health',
        title: 'clientHealth.title',
        icon: IconHeartbeat,
        reads: clientHealth.get,
      },
      {
        to: 'systemManagement/systemSetting',
        title: 'systemSetting.title',
        icon: IconSettings,
        reads: emailSetting.get,
      },
      { to: 'systemManagement/notifySetting', title: 'notifySetting.title', icon: IconBell, reads: alerts.list },
      {
        to: 'systemManagement/webhooks',
        title: 'webhooks.title',
        icon: IconWebhook,
        reads: webhooks.list,
        creates: { call: webhooks.create, title: 'webhooks.create' },
      },
      {
        to: 'systemManagement/dnsSetting',
        title: 'dnsSetting.title',
        icon: IconAddressBook,
        reads: dnsSetting.list,
        creates: { call: dnsSetting.create, title: 'dnsSetting.create' },
      },
      {
        to: 'systemManagement/cname',
        title: 'cnames.title',
        icon: IconArrowRampRight,
        reads: cnames.list,
        creates: { call: cnames.create, title: 'cnames.create' },
      },
      {
        to: 'systemManagement/nginxSetting',
        title: 'zoneSettings.defaults',
        icon: IconCode,
        reads: nginxDefaults.get,
      },
      {
        to: 'systemManagement/errorSetting',
        title: 'defaultErrorPages.title',
        icon: IconFileAlert,
        reads: defaultErrorPages.list,
        creates: { call: defaultErrorPages.create, title: 'defaultErrorPages.create' },
      },
      {
        to: 'systemManagement/predefinedSetting',
        title: 'predefinedSetting.title',
        icon: IconTemplate,
        reads: predefinedSetting.get,
      },
      { to: 'systemManagement/systemUpgrade', title: 'upgrades.title', icon: IconCloudUp, reads: upgrades.latest },
    ],
  },
  accountGroup({
    users: 'userManagement/users',
    creates: 'accounts.adding.customers',
    more: [
      {
        to: 'userManagement/customizeLogo',
        title: 'branding.title',
        icon: IconPalette,
        reads: branding.list,
        creates: { call: branding.create, title: 'branding.create' },
      },
      {
        to: 'userManagement/announcementSetting',
        title: 'announcementSetting.title',
        icon: IconSpeakerphone,
        reads: announcementSetting.list,
        creates: { call: announcementSetting.create, title: 'announcementSetting.create' },
      },
    ],
  }),
];
