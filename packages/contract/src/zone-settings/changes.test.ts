import { expect, test } from 'vitest';
import { strategyOf } from './changes.ts';

test('refused visitors are no fault of a change that is about whom nodes refuse, and of any other they are', () => {
  const refusals = (field: string) => {
    const strategy = strategyOf(30, [{ field, before: '', after: 'x' }]);
    return strategy.type === 'waves' ? strategy.gates.refusals : null;
  };
  expect(['firewall.level', 'ipset.enabled', 'antiCC.mode'].map(refusals)).toEqual([1, 1, 1]);
  expect(['nginx.http', 'http3'].map(refusals)).toEqual([0.1, 0.1]);
});
