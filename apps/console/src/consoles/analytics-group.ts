import { blockIPs } from '@edgeloom/contract/block-ips/block-ips.calls.ts';
import { logs } from '@edgeloom/contract/logs/logs.calls.ts';
import { logExports } from '@edgeloom/contract/log-exports/log-exports.calls.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import {
  IconBan,
  IconChartAreaLine,
  IconFileDownload,
  IconListSearch,
  IconShield,
  IconStack2,
} from '@tabler/icons-react';
import type { MenuGroup } from '../components/frame/menu.ts';

/** The pages about traffic, shared by the user and client consoles. */
export const analyticsGroup: MenuGroup = {
  title: 'frame.groups.analytics',
  entries: [
    { to: 'dataAnalysis/statistics', title: 'statistics.title', icon: IconChartAreaLine, reads: statistics.cards },
    { to: 'dataAnalysis/securityAnalysis', title: 'securityAnalysis.title', icon: IconShield, reads: statistics.qps },
    { to: 'dataAnalysis/blockIPs', title: 'blockIPs.title', icon: IconBan, reads: blockIPs.list },
    { to: 'dataAnalysis/l4AttackAnalysis', title: 'layer4.title', icon: IconStack2, reads: statistics.layer4Sums },
    { to: 'dataAnalysis/logger', title: 'logs.title', icon: IconListSearch, reads: logs.access, key: 'l' },
    { to: 'dataAnalysis/logExport', title: 'logExports.title', icon: IconFileDownload, reads: logExports.list },
  ],
};
