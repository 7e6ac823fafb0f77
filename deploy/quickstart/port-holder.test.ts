import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { holderOf, isFree } from './port-holder.ts';

test('the holder of a port is described by program, pid and command', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  expect(await isFree('127.0.0.1', port)).toBe(false);
  expect(await holderOf(port)).toContain(`node (pid ${process.pid}: `);

  server.close();
  await once(server, 'close');
  expect(await isFree('127.0.0.1', port)).toBe(true);
  expect(await holderOf(port)).toBeNull();
});
