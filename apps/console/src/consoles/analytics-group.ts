import { logs } from '@edgeloom/contract/logs/logs.calls.ts';
import { IconListSearch } from '@tabler/icons-react';
import type { MenuGroup } from '../components/frame/menu.ts';

/** The pages about traffic, shared by the user and client consoles. */
export const analyticsGroup: MenuGroup = {
  title: 'frame.groups.analytics',
  entries: [{ to: 'dataAnalysis/logger', title: 'logs.title', icon: IconListSearch, reads: logs.access, key: 'l' }],
};
