import { expect, test } from 'vitest';
import { nodeStatus } from './node-status.ts';

const now = new Date('2026-01-01T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
const node = { enabled: true, joinedAt: ago(86_400), role: 'main' };
const state = { connectedAt: ago(600), disconnectedAt: null, lastSeenAt: ago(5), rejected: [], nginx: 'running' };
const refusal = { key: 'zone', revision: 3, error: 'port 80 is taken' };

test.each([
  ['a node that has not joined is uninitialized', { ...node, joinedAt: null }, null, 'uninitialized'],
  ['one that was switched off is disabled, whatever else', { ...node, enabled: false }, state, 'disabled'],
  ['a connected one is enabled', node, state, 'enabled'],
  ['a backup that is connected stands by', { ...node, role: 'backup' }, state, 'backupPaused'],
  ['one that refused a document says so', node, { ...state, rejected: [refusal] }, 'rejected'],
  [
    'one that just lost its connection reconnects',
    node,
    { ...state, connectedAt: null, disconnectedAt: ago(10) },
    'reconnecting',
  ],
  [
    'one that has been away for a minute and served has a NATS error',
    node,
    { ...state, connectedAt: null, disconnectedAt: ago(60), lastSeenAt: ago(60) },
    'natsError',
  ],
  [
    'one whose connection stands but says nothing has a NATS error',
    node,
    { ...state, lastSeenAt: ago(120) },
    'natsError',
  ],
  [
    'one that did not serve when it went is offline',
    node,
    { ...state, connectedAt: null, disconnectedAt: ago(60), nginx: 'stopped' },
    'offline',
  ],
  [
    'one that has been away for long is offline',
    node,
    { ...state, connectedAt: null, disconnectedAt: ago(7200), lastSeenAt: ago(7200) },
    'offline',
  ],
  ['one that joined and never came is offline', node, null, 'offline'],
] as const)('%s', (_, node, state, status) => {
  expect(nodeStatus(node, state && { ...state, rejected: [...state.rejected] }, now)).toBe(status);
});
