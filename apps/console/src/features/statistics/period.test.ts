import { expect, test } from 'vitest';
import { prefer } from '../../stores/preferences.ts';
import { boundsOf, customFault, intervals, periodOf, shortened, stepsOf, usualStep } from './period.ts';

const now = Date.parse('2026-11-24T10:30:00Z');
const read = (text: string) => periodOf(new URLSearchParams(text), intervals, 'oneDay');

test('a URL without a valid period has the usual one', () => {
  expect(read('range=sevenDays')).toEqual({ interval: 'sevenDays' });
  expect(read('range=never')).toEqual({ interval: 'oneDay' });
  expect(read('range=custom&from=2026-11-02T00:00Z')).toEqual({ interval: 'oneDay' });
  expect(read('range=custom&from=2026-11-02T00:00Z&to=2026-11-01T00:00Z')).toEqual({ interval: 'oneDay' });
  expect(read('range=custom&from=2026-11-01T00:00Z&to=2026-11-02T00:00Z')).toEqual({
    interval: 'custom',
    startTime: '2026-11-01T00:00:00.000Z',
    endTime: '2026-11-02T00:00:00.000Z',
  });
});

test('a custom period has an end after its start, at most 366 days later', () => {
  expect(customFault(null, '2026-11-02T00:00Z')).toBe('incomplete');
  expect(customFault('2026-11-02T00:00Z', '2026-11-02T00:00Z')).toBe('order');
  expect(customFault('2025-11-01T00:00Z', '2026-11-02T00:00Z')).toBe(null);
  // The clocks may go back by an hour.
  expect(customFault('2025-10-31T23:00Z', '2026-11-02T00:00Z')).toBe(null);
  expect(customFault('2025-10-31T22:59Z', '2026-11-02T00:00Z')).toBe('long');
});

test('today and yesterday begin at midnight of the console time zone, also when the clocks change', () => {
  prefer({ timeZone: 'Asia/Taipei' });
  expect(boundsOf({ interval: 'today' }, now)).toEqual({ from: Date.parse('2026-11-23T16:00:00Z'), to: now });
  prefer({ timeZone: 'America/New_York' });
  const monday = Date.parse('2026-11-02T12:00:00Z');
  expect(boundsOf({ interval: 'yesterday' }, monday)).toEqual({
    from: Date.parse('2026-11-01T04:00:00Z'),
    to: Date.parse('2026-11-02T05:00:00Z'),
  });
  // Midnight is skipped where the clocks go forward.
  prefer({ timeZone: 'America/Havana' });
  const sunday = Date.parse('2026-03-08T12:00:00Z');
  expect(boundsOf({ interval: 'today' }, sunday)).toEqual({ from: Date.parse('2026-03-08T05:00:00Z'), to: sunday });
  prefer({ timeZone: 'Nowhere/Atlantis' });
  expect(boundsOf({ interval: 'today' }, now).from).toBeLessThanOrEqual(now);
  prefer({ timeZone: null });
});

test.each([
  ['oneHour', '2026-11-24T09:45:00.000Z'],
  ['sixHours', '2026-11-24T05:00:00.000Z'],
  ['oneDay', '2026-11-23T11:00:00.000Z'],
  ['sevenDays', '2026-11-17T11:00:00.000Z'],
] as const)('%s begins when the figures of the API do', (interval, from) => {
  expect(new Date(boundsOf({ interval }, now).from).toISOString()).toBe(from);
});

test('only report intervals with two points and stored sums are offered', () => {
  expect(stepsOf({ interval: 'oneHour' }, now)).toEqual([1, 5, 15]);
  expect(stepsOf({ interval: 'sevenDays' }, now)).toEqual([1, 5, 15, 60, 1440]);
  expect(stepsOf({ interval: 'thirtyDays' }, now)).toEqual([5, 15, 60, 1440]);
  const old = { interval: 'custom', startTime: '2026-02-01T00:00:00Z', endTime: '2026-02-02T00:00:00Z' } as const;
  expect(stepsOf(old, now)).toEqual([60]);
  const short = { interval: 'custom', startTime: '2026-02-01T00:00:00Z', endTime: '2026-02-01T00:30:00Z' } as const;
  expect(stepsOf(short, now)).toEqual([15]);
});

test('the usual report interval follows the length of the period', () => {
  expect(usualStep({ interval: 'oneHour' }, now)).toBe(1);
  expect(usualStep({ interval: 'oneDay' }, now)).toBe(5);
  expect(usualStep({ interval: 'thirtyDays' }, now)).toBe(60);
});

test('filters read the newest day of a longer period', () => {
  expect(shortened({ interval: 'thirtyDays' })).toEqual({ interval: 'oneDay' });
  expect(shortened({ interval: 'sixHours' })).toEqual({ interval: 'sixHours' });
  const custom = { interval: 'custom', endTime: '2026-11-10T00:00:00.000Z' } as const;
  expect(shortened({ ...custom, startTime: '2026-11-01T00:00:00.000Z' }).startTime).toBe('2026-11-09T00:00:00.000Z');
  // A day of 25 hours stays whole.
  expect(shortened({ ...custom, startTime: '2026-11-08T23:00:00.000Z' }).startTime).toBe('2026-11-08T23:00:00.000Z');
  expect(shortened({ ...custom, startTime: '2026-11-09T12:00:00.000Z' }).startTime).toBe('2026-11-09T12:00:00.000Z');
});

test('months are those of UTC+8, whatever the time zone of the console', () => {
  // December has begun there.
  const now = Date.parse('2026-11-30T17:00:00Z');
  const iso = (interval: 'thisMonth' | 'lastMonth') => {
    const { from, to } = boundsOf({ interval }, now);
    return [from, to].map((at) => new Date(at).toISOString());
  };
  expect(iso('thisMonth')).toEqual(['2026-11-30T16:00:00.000Z', '2026-11-30T17:00:00.000Z']);
  expect(iso('lastMonth')).toEqual(['2026-10-31T16:00:00.000Z', '2026-11-30T16:00:00.000Z']);
  expect(shortened({ interval: 'lastMonth' })).toEqual({ interval: 'oneDay' });
});
