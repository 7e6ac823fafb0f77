import { RolloutStrategy } from '@edgeloom/contract/rollouts/rollouts.ts';
import { expect, test } from 'vitest';
import { Pace, strategyOf, UpgradeDraft } from './paces.ts';

const draft = (boxes: object = {}) => UpgradeDraft.parse({ version: '1.2.3', ...boxes });
const isTaken = (boxes: object) => UpgradeDraft.safeParse({ version: '1.2.3', ...boxes }).success;

test.each(Pace.options)('the way "%s" is one that the API takes', (strategy) => {
  const made = strategyOf(draft({ strategy, reason: 'a hole is open' }));
  expect(RolloutStrategy.parse(made)).toEqual(made);
});

test("one's own boxes count only where one's own way is chosen", () => {
  const boxes = { canary: false, percent: '20, 60, 100', soakSeconds: 5, serverErrors: 2, refusals: 100 };
  expect(strategyOf(draft({ strategy: 'own', ...boxes }))).toMatchObject({
    canary: false,
    percent: [20, 60, 100],
    soakSeconds: 5,
    gates: { serverErrors: 0.02, refusals: 1 },
  });
  expect(strategyOf(draft({ strategy: 'usual', ...boxes }))).toMatchObject({ canary: true, percent: [10, 100] });
});

test.each(['', '50', '100, 50', '10, 10, 100', '10, 120', '1.5, 100', 'all'])(
  'waves of "%s" are not taken',
  (percent) => expect(isTaken({ strategy: 'own', percent })).toBe(false),
);

test('the fast lane wants a reason', () => {
  expect(isTaken({ strategy: 'allAtOnce' })).toBe(false);
  expect(isTaken({ strategy: 'allAtOnce', reason: '  ' })).toBe(false);
  expect(isTaken({ strategy: 'allAtOnce', reason: 'a hole is open' })).toBe(true);
});
