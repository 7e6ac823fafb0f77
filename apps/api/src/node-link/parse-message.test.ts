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
const saying = (text: string) => ({ string: () => text });

test('a message is read as its schema has it', () => {
  expect(parseMessage(Heartbeat, saying(JSON.stringify(heartbeat)))).toMatchObject({ revision: 1, nginx: 'running' });
  expect(() => parseMessage(Heartbeat, saying('{"revision":'))).toThrow(SyntaxError);
  expect(() => parseMessage(Heartbeat, saying('{}'))).toThrow('revision');
});

test.each([
  ['a list', `[0${',0'.repeat(1_000_000)}]`],
  ['lists in lists', `[${Array.from({ length: 1000 }, () => `[0${',0'.repeat(1000)}]`).join()}]`],
  ['names', `{${Array.from({ length: 100_000 }, (_, i) => `"${i}":0`).join()}}`],
  ['depth', '['.repeat(100_000) + ']'.repeat(100_000)],
])('one of more values than anybody has to say is not looked into: %s', (_, packs) => {
  const said = JSON.stringify(heartbeat).replace('{', `{"packs":${packs},"rejected":${packs},`);
  expect(() => parseMessage(Heartbeat, saying(said))).toThrow('too many values');
});
