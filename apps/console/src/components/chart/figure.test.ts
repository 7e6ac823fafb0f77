import { expect, test } from 'vitest';
import { figure, newest } from './figure.ts';

test('a figure is shown in its unit, and an unknown one as a dash', () => {
  expect([figure('byte', 1_910_000), figure('bit', 4_210_000), figure('share', 0.9306), figure('count', 12)]).toEqual([
    '1.91\u00a0MB',
    '4.21\u00a0Mbps',
    '93.06%',
    '12',
  ]);
  expect(figure('count', null)).toBe('—');
  expect([newest([1, null, 3, null]), newest([null])]).toEqual([3, null]);
});

test('the newest value is not that of the unfinished step, unless it is the only one', () => {
  expect([newest([1, 3, 2], true), newest([1, null, 2], true), newest([null, 2], true), newest([], true)]).toEqual([
    3,
    1,
    2,
    null,
  ]);
});
