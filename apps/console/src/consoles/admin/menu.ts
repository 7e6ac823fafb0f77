import { IconLayoutDashboard } from '@tabler/icons-react';
import type { MenuGroup } from '../../components/frame/menu.ts';

export const menu: readonly MenuGroup[] = [
  { entries: [{ to: 'dashboard', title: 'dashboard.title', icon: IconLayoutDashboard }] },
];
