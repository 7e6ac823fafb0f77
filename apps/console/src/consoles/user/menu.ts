import { alerts } from '@edgeloom/contract/alerts/alerts.calls.ts';
import { ownSites } from '@edgeloom/contract/sites/sites.calls.ts';
import { ownTrafficPackages } from '@edgeloom/contract/traffic/traffic.calls.ts';
import { IconBell, IconGauge, IconLayoutDashboard, IconWorld } from '@tabler/icons-react';
import type { MenuGroup } from '../../components/frame/menu.ts';
import { accountGroup } from '../account-group.ts';
import { analyticsGroup } from '../analytics-group.ts';

export const menu: readonly MenuGroup[] = [
  {
    entries: [
      { to: 'dashboard', title: 'dashboard.title', icon: IconLayoutDashboard, key: 'd' },
      { to: 'sitesManagement', title: 'sites.title', icon: IconWorld, reads: ownSites.list, key: 's' },
    ],
  },
  analyticsGroup,
  {
    title: 'frame.groups.traffic',
    entries: [
      {
        to: 'trafficPkgManagement/trafficPkgList',
        title: 'trafficPackages.title',
        icon: IconGauge,
        reads: ownTrafficPackages.list,
      },
    ],
  },
  {
    title: 'frame.groups.system',
    entries: [
      { to: 'systemManagement/notifySetting', title: 'notifySetting.title', icon: IconBell, reads: alerts.list },
    ],
  },
  accountGroup({ users: 'userManagement/usersList', creates: 'accounts.adding.subs' }),
];
