import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assignWaves, wavesOf, type Candidate } from './wave-plan.ts';

const candidate = (i: number, zoneId: string, isConnected = true): Candidate => ({
  nodeId: `node-${i}`,
  name: `node-${i}`,
  zoneId,
  isConnected,
  isServing: true,
  isMain: true,
});
const fleet = fc
  .array(fc.record({ zone: fc.constantFrom('a', 'b', 'c'), isConnected: fc.boolean() }), {
    minLength: 1,
    maxLength: 60,
  })
  .map((nodes) => nodes.map(({ zone, isConnected }, i) => candidate(i, zone, isConnected)));
const percents = fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 4 });

test('every node has a wave, and of no zone more than the share has come by then, however many are away', () => {
  fc.assert(
    fc.property(fleet, percents, (nodes, percent) => {
      const strategy = { canary: true, percent, soakSeconds: 0, deadlineSeconds: 60, gates };
      const waves = wavesOf({ type: 'waves', ...strategy });
      const plan = assignWaves(nodes, [], waves);
      expect(plan.size).toBe(nodes.length);
      for (const wave of waves) {
        for (const [, inZone] of Map.groupBy(nodes, ({ zoneId }) => zoneId)) {
          const come = inZone.filter(({ nodeId }) => (plan.get(nodeId) ?? 0) <= wave.position).length;
          const share = wave.percent === null ? 1 : Math.ceil((wave.percent * inZone.length) / 100);
          expect(come).toBeLessThanOrEqual(Math.max(share, 1));
        }
      }
      const first = waves[0]?.percent === null ? [...plan.values()].filter((wave) => wave === 0).length : 1;
      expect(first).toBe(1);
    }),
    { numRuns: 150, seed: 1 },
  );
});
const gates = { serverErrors: 0.05, refusals: 0.1, latencyFactor: 3, requests: 20 };

test('started nodes keep their waves when the others are assigned again', () => {
  const nodes = Array.from({ length: 10 }, (_, i) => candidate(i, 'a'));
  const waves = [
    { position: 1, percent: 10 },
    { position: 2, percent: 50 },
    { position: 3, percent: 100 },
  ];
  const plan = assignWaves(nodes.slice(1), nodes.slice(0, 1), waves);
  const sizes = [1, 2, 3].map((wave) => [...plan.values()].filter((at) => at === wave).length);
  // The canary already is this zone's ten percent.
  expect(sizes).toEqual([0, 4, 5]);
});

test('the first one is there, serves, and is of the zone that has the most', () => {
  const nodes = [
    candidate(0, 'small'),
    candidate(1, 'large', false),
    { ...candidate(2, 'large'), isServing: false },
    candidate(3, 'large'),
  ];
  const plan = assignWaves(nodes, [], [{ position: 0, percent: null }]);
  expect([...plan.keys()]).toEqual(['node-3']);
});
