import { expect, test } from 'vitest';
import { merge } from './conflict.ts';

const base = { name: 'a', memo: 'b', ports: [80], tags: ['x'] };

test('what only they changed is taken over, what only you changed stays', () => {
  const { values, conflict } = merge(base, { ...base, name: 'mine' }, { ...base, memo: 'theirs' });
  expect(values).toEqual({ name: 'mine', memo: 'theirs', ports: [80], tags: ['x'] });
  expect(conflict).toEqual({ fields: [], taken: ['memo'] });
});

test('what both changed is yours until you choose, and both are shown', () => {
  const { values, conflict } = merge(base, { ...base, ports: [443] }, { ...base, ports: [8080], tags: [] });
  expect(values).toEqual({ ...base, ports: [443], tags: [] });
  expect(conflict).toEqual({ fields: [{ name: 'ports', theirs: [8080], yours: [443] }], taken: ['tags'] });
});

test('what both changed alike is no conflict', () => {
  const changed = { ...base, name: 'same' };
  expect(merge(base, changed, changed)).toEqual({ values: changed, conflict: { fields: [], taken: [] } });
});
