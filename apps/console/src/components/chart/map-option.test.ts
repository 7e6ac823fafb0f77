import { expect, test } from 'vitest';
import { boundsOf, mapOption } from './map-option.ts';
import { projection, shapes } from './world-shapes.ts';

test('classes are powers of ten up to the largest value', () => {
  expect([boundsOf([]), boundsOf([0]), boundsOf([3]), boundsOf([3, 120]), boundsOf([31_000_000, 5])]).toEqual([
    [],
    [],
    [1],
    [1, 10, 100],
    [1, 10_000, 100_000, 1_000_000, 10_000_000],
  ]);
});

test('the map has each country once, small territories too, and no Antarctica', () => {
  const codes = shapes.features.flatMap(({ properties }) =>
    properties?.['name'] === '' ? [] : [properties?.['name']],
  );
  expect(new Set(codes).size).toBe(codes.length);
  expect(codes).toEqual(expect.arrayContaining(['TW', 'JP', 'US', 'CN', 'HK', 'SG', 'RU', 'FJ']));
  expect(codes).not.toContain('AQ');
  const [x, y] = projection.project([121, 24]);
  const [longitude, latitude] = projection.unproject([x, y]);
  expect([Math.round(longitude), Math.round(latitude)]).toEqual([121, 24]);
});

test('the largest class has the strongest colour', () => {
  const texts = { nameOf: (code: string) => code, figureOf: String };
  const option = mapOption([{ code: 'TW', value: 12 }], { isBad: true }, texts, {}, 'light');
  expect(option).toMatchObject({
    visualMap: {
      pieces: [
        { gte: 1, lt: 10 },
        { gte: 10, color: '#7d1512', label: '10+' },
      ],
    },
    series: [{ data: [{ name: 'TW', value: 12 }] }],
  });
});
