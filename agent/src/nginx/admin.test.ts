import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Admin } from './admin.ts';

/** Client of an admin socket that responds to every call with this status. */
async function adminOf(status: number) {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-admin-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const socket = path.join(dir, 'admin.sock');
  const server = createServer((_, reply) => reply.writeHead(status).end('{}')).listen(socket);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return new Admin(socket);
}

test('only a 404 means that the Lua of nginx is too old to close connections', async () => {
  const [known, unknown, broken] = await Promise.all([200, 404, 500].map(adminOf));
  expect(await known?.closeConnections(10, 10_000)).toBe(true);
  expect(await unknown?.closeConnections(10, 10_000)).toBe(false);
  await expect(broken?.closeConnections(10, 10_000)).rejects.toThrow('nginx responded to /closing with 500');
});
