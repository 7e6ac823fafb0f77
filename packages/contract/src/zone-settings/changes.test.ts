import { expect, test } from 'vitest';
import { strategyOf } from './changes.ts';

test('refusals fail the gate, except after a change of the firewall', () => {
  const refusals = (field: string) => {
    const strategy = strategyOf(30, [{ field, before: '', after: 'x' }]);
    return strategy.type === 'waves' ? strategy.gates.refusals : null;
  };
  expect(['firewall.level', 'ipset.enabled', 'antiCC.mode'].map(refusals)).toEqual([1, 1, 1]);
  expect(['nginx.http', 'http3'].map(refusals)).toEqual([0.1, 0.1]);
});
