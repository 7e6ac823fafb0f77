import { logs } from '@edgeloom/contract/logs/logs.calls.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { IconChartAreaLine, IconListSearch, IconShield } from '@tabler/icons-react';
import type { MenuGroup } from '../components/frame/menu.ts';

/** The pages about traffic, shared by the user and client consoles. */
export const analyticsGroup: MenuGroup = {
  title: 'frame.groups.analytics',
  entries: [
    { to: 'dataAnalysis/statistics', title: 'statistics.title', icon: IconChartAreaLine, reads: statistics.cards },
    { to: 'dataAnalysis/securityAnalysis', title: 'securityAnalysis.title', icon: IconShield, reads: statistics.qps },
    { to: 'dataAnalysis/logger', title: 'logs.title', icon: IconListSearch, reads: logs.access, key: 'l' },
  ],
};
