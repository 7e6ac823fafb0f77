import { afterEach, expect, test } from 'vitest';
import { prefer } from '../../stores/preferences.ts';
import { boundsOfFigures, periodWords } from './period-words.ts';

afterEach(() => prefer({ timeZone: null }));

const figures = { from: '2026-11-24T08:00:00.000Z', to: '2026-11-24T12:05:00.000Z' };
const wordsAt = (at: string) => periodWords(boundsOfFigures(figures, Date.parse(at)));

test('a period ends with its figures, or when they arrived', () => {
  prefer({ timeZone: 'Asia/Taipei' });
  expect(wordsAt('2026-11-25T00:00:00Z')).toMatch(/^2026\/11\/24 16:00 – 2026\/11\/24 20:05 \S+/);
  expect(wordsAt('2026-11-24T12:02:00Z')).toMatch(/^2026\/11\/24 16:00 – 2026\/11\/24 20:02 \S+/);
});
