import net from 'node:net';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { nodeFault } from '../core/outbound.ts';
import { openNodeProbe } from './node-probe.ts';

test('a node is looked at where the installation lets nodes lie, and nowhere else', async () => {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    socket.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const at = server.address();
  const port = typeof at === 'object' && at !== null ? at.port : 0;
  const look = async (NODE_ALLOW: string[], ip = '127.0.0.1') => {
    const ended = Promise.withResolvers<void>();
    const nodeProbe = openNodeProbe(ended.resolve, (one) => nodeFault(one, { NODE_ALLOW, ORIGIN_DENY: [] }) === null);
    nodeProbe.look([{ id: 'a', ip, ports: [port], isSuspect: false }]);
    await ended.promise;
    return nodeProbe.found().get('a');
  };
  expect(await look([])).toBe(false);
  expect(await look([], '::ffff:127.0.0.1')).toBe(false);
  expect(await look([], 'localhost')).toBe(false);
  expect(connections).toBe(0);
  expect(await look(['127.0.0.0/8'])).toBe(true);
});
