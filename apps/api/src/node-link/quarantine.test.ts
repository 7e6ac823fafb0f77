import { expect, test } from 'vitest';
import { Quarantine } from './quarantine.ts';

test('a document that cannot be compiled is left alone for longer each time, up to a minute, and forgotten when it can', () => {
  let now = 0;
  const quarantine = new Quarantine(() => now);
  const waits = Array.from({ length: 8 }, () => quarantine.add('zone', 'host/a.com'));
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  expect(quarantine.keysOf('zone')).toEqual(['host/a.com']);
  expect(quarantine.keysOf('other')).toEqual([]);
  now = 60_000;
  expect(quarantine.keysOf('zone')).toEqual([]);
  quarantine.release('zone', 'host/a.com');
  expect(quarantine.add('zone', 'host/a.com')).toBe(1000);
});
