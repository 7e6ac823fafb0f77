import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { assertFree, listenersIn, nameOf } from './sockets.ts';

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

test('the sockets of nginx are read from its rendered files', async () => {
  const golden = new URL('../render/__golden__/proxy-protocol/listeners.conf', import.meta.url);
  const found = listenersIn(await readFile(golden, 'utf8'));
  const namesOf = (proxied: boolean) => found.filter((one) => one.proxyProtocol === proxied).map(nameOf);
  const direct = ['0.0.0.0:80', '[::]:80', '0.0.0.0:443', '[::]:443', '0.0.0.0:443/udp', '[::]:443/udp'];
  expect(namesOf(false)).toEqual(direct);
  expect(namesOf(true)).toEqual(['0.0.0.0:8080', '[::]:8080', '0.0.0.0:8443', '[::]:8443']);
  expect(listenersIn('server {\n    listen "unix:/run/nginx/hop.sock";\n}\n')).toEqual([]);
});
