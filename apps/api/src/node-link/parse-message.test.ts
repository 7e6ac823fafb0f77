import { Heartbeat } from '@edgeloom/contract/edge/messages.ts';
import { expect, test } from 'vitest';
import { parseMessage } from './parse-message.ts';

const heartbeat = {
  revision: 1,
  digest: '0'.repeat(64),
  version: '1.0.0',
  startedAt: '2026-11-23T00:00:00.000Z',
  nginx: 'running',
  error: null,
  rejected: [],
  capabilities: ['lua'],
  somethingNew: { of: [[[1]]] },
};
const messageOf = (text: string) => ({ string: () => text });

test('a message is parsed by its schema', () => {
  expect(parseMessage(Heartbeat, messageOf(JSON.stringify(heartbeat)))).toMatchObject({
    revision: 1,
    nginx: 'running',
  });
  expect(() => parseMessage(Heartbeat, messageOf('{"revision":'))).toThrow(SyntaxError);
  expect(() => parseMessage(Heartbeat, messageOf('{}'))).toThrow('revision');
});

test.each([
  ['a list', `[0${',0'.repeat(1_000_000)}]`],
  ['lists in lists', `[${Array.from({ length: 1000 }, () => `[0${',0'.repeat(1000)}]`).join()}]`],
  ['names', `{${Array.from({ length: 100_000 }, (_, i) => `"${i}":0`).join()}}`],
  ['depth', '['.repeat(100_000) + ']'.repeat(100_000)],
])('a message of too many values is refused unread: %s', (_, packs) => {
  const text = JSON.stringify(heartbeat).replace('{', `{"packs":${packs},"rejected":${packs},`);
  expect(() => parseMessage(Heartbeat, messageOf(text))).toThrow('too many values');
});
