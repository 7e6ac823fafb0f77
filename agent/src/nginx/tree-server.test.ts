import { appendFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { layoutOf } from '../layout.ts';
import { TreeServer } from './tree-server.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const render = (generation: number) => Promise.resolve(new Map([['nginx.conf', `# ${generation}`]]));

/** A server whose nginx accepts every tree. */
async function serverWith(over: Partial<ConstructorParameters<typeof TreeServer>[0]>) {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-trees-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const layout = layoutOf(dir);
  await mkdir(layout.conf, { recursive: true });
  const server = new TreeServer({
    binary: 'nginx',
    layout,
    readGeneration: async () => (await server.trees.marked('current')) ?? 0,
    log: silent,
    ...over,
  });
  for (const call of ['test', 'start'] as const) vi.spyOn(server.nginx, call).mockResolvedValue();
  vi.spyOn(server.nginx, 'find').mockResolvedValue(null);
  vi.spyOn(server.nginx, 'keep').mockReturnValue();
  return server;
}

test('a new tree serves, although old trees and workers cannot be cleaned up', async () => {
  const warnings: string[] = [];
  const server = await serverWith({ log: { ...silent, warn: (message) => void warnings.push(message) } });
  vi.spyOn(server.trees, 'prune').mockRejectedValue(new Error('EIO: i/o error, rmdir'));
  vi.spyOn(server.pace, 'endOldest').mockRejectedValue(new Error('EMFILE: too many open files, scandir /proc'));
  expect(await server.serve(render)).toBe(true);
  expect(await server.trees.marked('good')).toBe(1);
  expect(warnings).toEqual(['old trees were not deleted', 'old workers were not ended']);
});

test('connections are closed before a reload, although nginx did not respond in time before', async () => {
  const steps: string[] = [];
  const server = await serverWith({
    readGeneration: vi
      .fn<() => Promise<number>>()
      .mockRejectedValueOnce(new DOMException('timeout', 'TimeoutError'))
      .mockResolvedValue(1),
    beforeReload: () => Promise.resolve(void steps.push('connections are closed')),
  });
  vi.spyOn(server.nginx, 'find').mockResolvedValue({ pid: process.pid, startedAtTick: '' });
  vi.spyOn(server.nginx, 'reload').mockImplementation(() => void steps.push('nginx is reloaded'));
  await server.serve(render);
  expect(steps).toEqual(['connections are closed', 'nginx is reloaded']);
});

test('a start that failed just before does not roll a good tree back', async () => {
  const server = await serverWith({
    readGeneration: vi
      .fn<() => Promise<number>>()
      .mockRejectedValueOnce(new Error('no worker yet'))
      .mockResolvedValue(1),
  });
  const { errorLog } = layoutOf(server.nginx.dir);
  await mkdir(path.dirname(errorLog), { recursive: true });
  // The supervisor was starting nginx with the tree before, and this start waits for that.
  vi.spyOn(server.nginx, 'start').mockImplementation(() =>
    appendFile(errorLog, '[emerg] 7#7: unknown directive "x"\n'),
  );
  expect(await server.serve(render)).toBe(true);
});
