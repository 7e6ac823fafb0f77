import { expect, test } from 'vitest';
import { entryAt, type MenuGroup } from './menu.ts';
import { menu as clientMenu } from '../../consoles/client/menu.ts';

test('a page belongs to the entry that its address begins with', () => {
  expect(entryAt(clientMenu, 'nodeManage/nodesList/0198')?.entry.to).toBe('nodeManage/nodesList');
  expect(entryAt(clientMenu, 'nodeManage/nodesListed')).toBeNull();
});

test('an entry may own other addresses', () => {
  const icon = clientMenu[0]?.entries[0]?.icon;
  if (!icon) throw new Error('The menu has no entry');
  const groups: MenuGroup[] = [{ entries: [{ to: 'a', also: ['b'], title: 'dashboard.title', icon }] }];
  expect(entryAt(groups, 'b/1')?.entry.to).toBe('a');
});
