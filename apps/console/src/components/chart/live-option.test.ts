import { expect, test } from 'vitest';
import { axisFigure, liveOption } from './live-option.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 24, 8, 0, seconds)).toISOString();

test('a live chart has a time axis that ends at the newest value, and a gap where values are missing', () => {
  const times = [at(0), at(2), at(30)];
  const series = [{ name: 'CPU', values: [0.1, 0.2, 0.3] }];
  const newest = Date.parse(at(30));
  expect(liveOption({ times, series, unit: 'share', spanMs: 300_000, most: 1 })).toMatchObject({
    xAxis: { type: 'time', min: newest - 300_000, max: newest },
    yAxis: { type: 'value', min: 0, max: 1, interval: 0.25 },
    series: [
      {
        name: 'CPU',
        data: [
          [Date.parse(at(0)), 0.1],
          [Date.parse(at(2)), 0.2],
          [newest - 1, null],
          [newest, 0.3],
        ],
      },
    ],
  });
});

test('axes name their units, and several series have a legend', () => {
  expect([
    axisFigure('share', 0.25),
    axisFigure('bit', 4e6),
    axisFigure('byte', 2e6),
    axisFigure('count', 1200),
  ]).toEqual(['25%', '4.00\u00a0Mbps', '2.00\u00a0MB', '1,200']);
  const two = ['Sent', 'Received'].map((name) => ({ name, values: [] }));
  expect(liveOption({ times: [], series: two, unit: 'bit', spanMs: 1 })).toHaveProperty('legend');
  expect(liveOption({ times: [], series: two.slice(1), unit: 'bit', spanMs: 1 })).not.toHaveProperty('legend');
});
