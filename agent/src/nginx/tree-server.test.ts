import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { layoutOf } from '../layout.ts';
import { TreeServer } from './tree-server.ts';

/** A server whose nginx accepts every tree. */
async function serverIn(warn: (message: string) => void) {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-trees-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const layout = layoutOf(dir);
  await mkdir(layout.conf, { recursive: true });
  const log = { info: () => undefined, warn, error: () => undefined };
  const server = new TreeServer({
    binary: 'nginx',
    layout,
    readGeneration: async () => (await server.trees.marked('current')) ?? 0,
    log,
  });
  for (const call of ['test', 'start'] as const) vi.spyOn(server.nginx, call).mockResolvedValue();
  vi.spyOn(server.nginx, 'find').mockResolvedValue(null);
  vi.spyOn(server.nginx, 'keep').mockReturnValue();
  return server;
}

test('a new tree serves, although old trees and workers cannot be cleaned up', async () => {
  const warnings: string[] = [];
  const server = await serverIn((message) => void warnings.push(message));
  vi.spyOn(server.trees, 'prune').mockRejectedValue(new Error('EIO: i/o error, rmdir'));
  vi.spyOn(server.pace, 'endOldest').mockRejectedValue(new Error('EMFILE: too many open files, scandir /proc'));
  const render = (generation: number) => Promise.resolve(new Map([['nginx.conf', `# ${generation}`]]));
  expect(await server.serve(render)).toBe(true);
  expect(await server.trees.marked('good')).toBe(1);
  expect(warnings).toEqual(['old trees were not deleted', 'old workers were not ended']);
});
