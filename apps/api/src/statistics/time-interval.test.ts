import { expect, test } from 'vitest';
import { before, timesOf } from './time-interval.ts';

const now = new Date('2026-11-24T18:31:07.250Z');
const iso = ({ from, to }: { from: Date; to: Date }) => [from.toISOString(), to.toISOString()];

test.each([
  ['oneHour', 'UTC', 5, '2026-11-24T17:35:00.000Z', '2026-11-24T18:35:00.000Z'],
  ['today', 'UTC', 5, '2026-11-24T00:00:00.000Z', '2026-11-24T18:35:00.000Z'],
  ['today', 'Asia/Taipei', 5, '2026-11-24T16:00:00.000Z', '2026-11-24T18:35:00.000Z'],
  ['yesterday', 'Asia/Taipei', 60, '2026-11-23T16:00:00.000Z', '2026-11-24T16:00:00.000Z'],
  ['sevenDays', 'Asia/Taipei', 1440, '2026-11-18T16:00:00.000Z', '2026-11-25T16:00:00.000Z'],
  ['sevenDays', 'Asia/Kolkata', 1440, '2026-11-18T18:30:00.000Z', '2026-11-25T18:30:00.000Z'],
] as const)('%s in %s in steps of %i minutes', (timeInterval, timeZone, step, from, to) => {
  expect(iso(timesOf({ timeInterval, timeZone }, now, step))).toEqual([from, to]);
});

test('own times are widened to whole steps', () => {
  const query = {
    timeInterval: 'custom',
    timeZone: 'UTC',
    startTime: new Date('2026-11-24T10:07:00Z'),
    endTime: new Date('2026-11-24T10:13:00Z'),
  } as const;
  const times = timesOf(query, now, 5);
  expect(iso(times)).toEqual(['2026-11-24T10:05:00.000Z', '2026-11-24T10:15:00.000Z']);
  expect(iso(before(times))).toEqual(['2026-11-24T09:55:00.000Z', '2026-11-24T10:05:00.000Z']);
});
