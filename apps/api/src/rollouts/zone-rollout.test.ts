import { expect, test } from 'vitest';
import type { RolloutNodeState } from '@edgeloom/contract/rollouts/rollouts.ts';
import { progressOf } from './zone-rollout.ts';

const withdrawn = { revision: 7, doc: null };
const node = (
  state: RolloutNodeState,
  revision: number,
  rejected: { key: string; revision: number; error: string }[] = [],
) => ({
  nodeId: 'north',
  state,
  revision,
  rejected,
});
const back = { state: 'rollingBack' } as const;

test('a node has gone back once it has heard of it and keeps nothing', () => {
  expect(progressOf(node('rollingBack', 6), back, withdrawn, 2)).toBe(null);
  expect(progressOf(node('rollingBack', 7), back, withdrawn, 2)).toMatchObject({ event: 'complete' });
});

// Regression: the node counted as rolled back while it served the bad tree.
test('a node whose nginx cannot serve what was before has not gone back', () => {
  const rejected = [{ key: 'trial', revision: 7, error: '0.0.0.0:81 cannot be opened: EADDRINUSE' }];
  expect(progressOf(node('rollingBack', 7, rejected), back, withdrawn, 2)).toEqual({
    event: 'failed',
    message: '0.0.0.0:81 cannot be opened: EADDRINUSE',
  });
});
