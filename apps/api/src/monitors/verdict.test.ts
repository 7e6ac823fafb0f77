import { expect, test } from 'vitest';
import { verdictOf } from './verdict.ts';

test.each([
  ['of three monitors two decide', { monitors: 3, able: 3, failing: 2, passing: 1 }, 'normal', 'error'],
  ['of three monitors one does not', { monitors: 3, able: 3, failing: 1, passing: 2 }, 'normal', 'normal'],
  ['half of the monitors keep the verdict', { monitors: 2, able: 2, failing: 1, passing: 1 }, 'error', 'error'],
  [
    'monitors that are offline count as undecided',
    { monitors: 3, able: 3, failing: 1, passing: 0 },
    'normal',
    'normal',
  ],
  ['a single monitor is its own majority', { monitors: 1, able: 1, failing: 1, passing: 0 }, 'unknown', 'error'],
  [
    'one that works ends an error when the others went offline',
    { monitors: 3, able: 3, failing: 0, passing: 1 },
    'error',
    'unknown',
  ],
  [
    'one that fails keeps an error when the others went offline',
    { monitors: 3, able: 3, failing: 1, passing: 0 },
    'error',
    'error',
  ],
  [
    'one of several is not enough where the others cannot check',
    { monitors: 3, able: 1, failing: 1, passing: 0 },
    'normal',
    'normal',
  ],
  ['two are enough where the others cannot check', { monitors: 5, able: 2, failing: 2, passing: 0 }, 'normal', 'error'],
  ['those that can check end an error', { monitors: 3, able: 1, failing: 0, passing: 1 }, 'error', 'normal'],
  ['nobody can check', { monitors: 3, able: 0, failing: 0, passing: 0 }, 'error', 'unknown'],
  ['nobody knows', { monitors: 3, able: 3, failing: 0, passing: 0 }, 'error', 'unknown'],
  ['no monitors', { monitors: 0, able: 0, failing: 0, passing: 0 }, 'normal', 'unknown'],
] as const)('%s', (_, counts, before, verdict) => {
  expect(verdictOf(counts, before)).toBe(verdict);
});
