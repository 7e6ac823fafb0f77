import { expect, test } from 'vitest';
import { firstSteps, hasNothingToWatch, isOpen, type Resources } from './first-steps-list.ts';

const none: Resources = {
  zones: 0,
  nodes: 0,
  installedNodes: 0,
  groups: 0,
  filledGroups: 0,
  products: 0,
  sites: 0,
  domains: 0,
  firstSite: null,
  traffic: null,
};
const openOf = (found: Partial<Resources>) => {
  const steps = firstSteps({ ...none, ...found });
  return steps.filter((step) => isOpen(step, steps)).map(({ name }) => name);
};
const pathOf = (found: Partial<Resources>, wanted: string) =>
  firstSteps({ ...none, ...found }).find(({ name }) => name === wanted)?.to;

test('an empty console begins with a zone, and each step opens the next ones', () => {
  expect(openOf({})).toEqual(['zone']);
  expect(openOf({ zones: 1 })).toEqual(['node', 'group', 'product']);
  expect(openOf({ zones: 1, nodes: 1, installedNodes: 1, groups: 1, filledGroups: 1, products: 1 })).toEqual(['site']);
  expect(openOf({ zones: 1, products: 1, sites: 1 })).toEqual(['node', 'group', 'domain']);
  const firstSite = { id: 'x', name: 'Shop' };
  expect(pathOf({ sites: 1, firstSite }, 'domain')).toBe('nodeManage/sitesSetting/x/Shop?view=domains&tab=new');
});

test('a node that is not installed and a group without nodes are not done', () => {
  expect(openOf({ zones: 1, nodes: 1, groups: 1 })).toEqual(['node', 'group', 'product']);
  expect(pathOf({}, 'node')).toBe('nodeManage/nodesList/new/install');
  expect(pathOf({ nodes: 1 }, 'node')).toBe('nodeManage/nodesList?tab=waiting');
});

test('steps whose objects the account may not read are left out, and hold nothing up', () => {
  const found = { zones: null, nodes: null, installedNodes: null, groups: null, filledGroups: null, products: null };
  expect(firstSteps({ ...none, ...found }).map(({ name, to }) => [name, to])).toEqual([
    ['site', 'nodeManage/sitesList'],
    ['domain', null],
  ]);
  expect(openOf(found)).toEqual(['site']);
});

test('nodes and sites that the account may not read do not count as none', () => {
  expect(hasNothingToWatch(none)).toBe(true);
  expect(hasNothingToWatch({ ...none, nodes: null, sites: null })).toBe(false);
  expect(hasNothingToWatch({ ...none, sites: 1 })).toBe(false);
});
