import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import { apiTokens } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { announcementSetting } from '@edgeloom/contract/announcements/announcements.endpoints.ts';
import { branding } from '@edgeloom/contract/branding/branding.endpoints.ts';
import { autoCertificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { clientDomains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { emailSetting } from '@edgeloom/contract/email-setting/email-setting.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import {
  IconApi,
  IconBox,
  IconCertificate,
  IconHistory,
  IconLayoutDashboard,
  IconMapPins,
  IconPalette,
  IconServer2,
  IconSettings,
  IconSpeakerphone,
  IconUserCircle,
  IconUserShield,
  IconWorld,
  IconWorldWww,
  IconUsers,
} from '@tabler/icons-react';
import type { MenuGroup } from '../../components/frame/menu.ts';

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
        creates: { call: nodes.create, title: 'nodes.create' },
      },
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
    title: 'frame.groups.system',
    entries: [
      {
        to: 'systemManagement/systemSetting',
        title: 'systemSetting.title',
        icon: IconSettings,
        reads: emailSetting.get,
      },
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
  },
];
