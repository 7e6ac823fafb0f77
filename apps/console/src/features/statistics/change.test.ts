import { expect, test } from 'vitest';
import { changeOf, parted } from './change.ts';

test('a change of the hit rate is in points and coloured, a change of traffic is not coloured', () => {
  expect(changeOf('hitRate', 0.9306, 0.9265)).toEqual({ text: '+0.41', isPoints: true, tone: 'ok' });
  expect(changeOf('hitRate', 0.9, 0.95)).toEqual({ text: '−5.00', isPoints: true, tone: 'bad' });
  expect(changeOf('traffic', 1082, 1000)).toEqual({ text: '+8.20%', isPoints: false, tone: null });
  expect(changeOf('addresses', 983, 1000)).toEqual({ text: '−1.70%', isPoints: false, tone: null });
});

test('without figures of the period before there is no change', () => {
  expect(changeOf('traffic', 10, null)).toBeNull();
  expect(changeOf('traffic', 10, 0)).toBeNull();
  expect(changeOf('traffic', 0, 0)).toMatchObject({ text: '0.00%' });
  expect(changeOf('hitRate', null, 0.5)).toBeNull();
});

test('a key figure is parted into number and unit', () => {
  expect(parted('21.47\u00a0TB')).toEqual({ number: '21.47', unit: 'TB' });
  expect(parted('93.06%')).toEqual({ number: '93.06', unit: '%' });
  expect(parted('1.38B')).toEqual({ number: '1.38', unit: 'B' });
  expect(parted('1,204')).toEqual({ number: '1,204', unit: '' });
  expect(parted('—')).toEqual({ number: '—', unit: '' });
});
