import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { assertFree } from './sockets.ts';

async function holder() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return { server, socket: { protocol: 'tcp', address: '127.0.0.1', port } as const };
}

test('a port is free that a worker which is leaving lets go of', async () => {
  const { server, socket } = await holder();
  const asked = assertFree(socket);
  server.close();
  await expect(asked).resolves.toBeUndefined();
});

test('a port that another program keeps is named', async () => {
  const { server, socket } = await holder();
  await expect(assertFree(socket)).rejects.toThrow(`127.0.0.1:${socket.port} cannot be opened: EADDRINUSE`);
  server.close();
});
