import { afterEach, expect, test } from 'vitest';
import { prefer } from '../../stores/preferences.ts';
import { periodBefore } from './compared-period.ts';

afterEach(() => prefer({ timeZone: null }));

const seriesOf = (from: string, to: string, count: number, stepSeconds: number) => ({
  from,
  to,
  stepSeconds,
  times: [from, ...Array.from({ length: count - 1 }, () => to)],
});

test.each([
  ['today after a longer day', 'today', seriesOf('2026-11-02T05:00:00Z', '2026-11-02T15:00:00Z', 10, 3600)],
  ['a longer yesterday', 'yesterday', seriesOf('2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z', 25, 3600)],
  ['November in days', 'custom', seriesOf('2026-11-01T04:00:00Z', '2026-12-01T05:00:00Z', 30, 86_400)],
  [
    'a month after the clocks went back',
    'custom',
    seriesOf('2026-11-02T05:00:00Z', '2026-12-02T05:00:00Z', 30, 86_400),
  ],
  ['six hours', 'sixHours', seriesOf('2026-11-02T06:00:00Z', '2026-11-02T12:00:00Z', 6, 3600)],
  [
    'a time that ends soon after a step begins',
    'custom',
    seriesOf('2026-11-02T10:01:00Z', '2026-11-02T12:05:00Z', 9, 900),
  ],
  [
    'a time that ends long after a step begins',
    'custom',
    seriesOf('2026-11-02T10:01:00Z', '2026-11-02T12:14:00Z', 9, 900),
  ],
] as const)('%s is compared with the time before', (name, interval, series) => {
  prefer({ timeZone: 'America/New_York' });
  const { startTime, endTime } = periodBefore(series, { interval });
  expect([startTime, endTime]).toEqual(
    {
      'today after a longer day': ['2026-11-01T04:00:00.000Z', '2026-11-01T14:00:00.000Z'],
      'a longer yesterday': ['2026-10-31T04:00:00.000Z', '2026-11-01T04:00:00.000Z'],
      'November in days': ['2026-10-02T04:00:00.000Z', '2026-11-01T04:00:00.000Z'],
      'a month after the clocks went back': ['2026-10-03T04:00:00.000Z', '2026-11-02T04:00:00.000Z'],
      'six hours': ['2026-11-02T00:00:00.000Z', '2026-11-02T06:00:00.000Z'],
      'a time that ends soon after a step begins': ['2026-11-02T07:57:00.000Z', '2026-11-02T10:01:00.000Z'],
      'a time that ends long after a step begins': ['2026-11-02T07:48:00.000Z', '2026-11-02T10:01:00.000Z'],
    }[name],
  );
});
