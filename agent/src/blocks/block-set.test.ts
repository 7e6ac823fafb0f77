import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { BlockSet } from './block-set.ts';

// Once, blocks that could not be written reached neither nginx nor the other nodes.
test('blocks reach nginx and the control plane although the disk is full', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-blocks-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const noFolder = path.join(dir, 'a file');
  await writeFile(noFolder, '');
  const inNginx: string[] = [];
  const marks: string[] = [];
  const reported: string[] = [];
  const waiting = [{ network: '198.51.100.1', cause: 'waf', seconds: 600 }];
  const warnings: string[] = [];
  const set = new BlockSet({
    file: path.join(noFolder, 'blocks.json'),
    setting: () => Promise.resolve({ zoneID: 'a zone', max: 10 }),
    nginx: {
      fetchBlocks: () => Promise.resolve({ mark: marks.at(-1), found: waiting.splice(0), dropped: 0 }),
      changeBlocks: (changes, options?: { mark?: string }) => {
        inNginx.push(...changes.map(([network]) => network));
        if (options?.mark !== undefined) marks.push(options.mark);
        return Promise.resolve();
      },
    },
    kernel: {
      canDrop: true,
      replaceBlocked: () => Promise.resolve(),
      changeBlocked: () => Promise.resolve(),
    },
    alwaysAllowed: () => [],
    line: () => ({
      reportBlocks: ({ blocks }) => {
        reported.push(...blocks.map(({ network }) => network));
        return Promise.resolve({ revision: 0, refused: [] });
      },
      blocksSince: () => Promise.resolve({ whole: false, blocks: [], revision: 0, more: false }),
    }),
    log: { info: () => undefined, warn: (message) => void warnings.push(message), error: () => undefined },
  });
  onTestFinished(() => set.stop());
  await vi.waitFor(() => expect(reported).toEqual(['198.51.100.1']), { timeout: 30_000 });
  expect(marks).toHaveLength(1);
  expect(inNginx).toEqual(['198.51.100.1']);
  expect(warnings).toContain('the block set could not be written');
}, 60_000);

test('blocks of a site stay in nginx, whichever node found them, and are reported with the site', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-blocks-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const site = '019a0000-0000-7000-8000-000000000001';
  const found = { network: '198.51.100.1', cause: 'acl', seconds: 600, siteID: site, rule: 'a rule' };
  const waiting = [found];
  const inNginx: unknown[] = [];
  const inKernel: string[] = [];
  const reported: unknown[] = [];
  const remote = { network: '198.51.100.2', cause: 'acl', seconds: 600, siteID: site };
  const set = new BlockSet({
    file: path.join(dir, 'blocks.json'),
    setting: () => Promise.resolve({ zoneID: 'a zone', max: 10 }),
    nginx: {
      fetchBlocks: () => Promise.resolve({ mark: undefined, found: [], sites: waiting.splice(0), dropped: 0 }),
      changeBlocks: (changes) => Promise.resolve(void inNginx.push(...changes)),
    },
    kernel: {
      canDrop: true,
      replaceBlocked: (entries) =>
        Promise.resolve(void inKernel.push(...Array.from(entries, ({ network }) => network))),
      changeBlocked: (add) => Promise.resolve(void inKernel.push(...add.map(({ network }) => network))),
    },
    alwaysAllowed: () => [],
    line: () => ({
      reportBlocks: ({ blocks, sites = [], size }) => {
        reported.push(...sites, ...blocks);
        expect(size).toBe(0);
        return Promise.resolve({ revision: 1, refused: [] });
      },
      blocksSince: () => Promise.resolve({ whole: false, blocks: [], sites: [remote], revision: 1, more: false }),
    }),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  onTestFinished(() => set.stop());
  await vi.waitFor(() => expect(inNginx).toContainEqual(['198.51.100.2', 600, 'acl', site]), { timeout: 30_000 });
  expect(inNginx).toContainEqual(['198.51.100.1', 600, 'acl', site]);
  expect(reported).toEqual([found]);
  expect(inKernel).toEqual([]);
}, 60_000);

// Once, a change during the read was lost, and the node kept the old setting until the next change.
test('a setting that changes while it is read is read again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-blocks-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  type Setting = { zoneID: string; max: number };
  const first = Promise.withResolvers<Setting>();
  const reads = [first.promise];
  const rooms: number[] = [];
  const setting = vi.fn<() => Promise<Setting>>(() => reads.shift() ?? Promise.resolve({ zoneID: 'a zone', max: 20 }));
  const set = new BlockSet({
    file: path.join(dir, 'blocks.json'),
    setting,
    nginx: {
      fetchBlocks: (room) => {
        rooms.push(room);
        return Promise.resolve({ mark: undefined, found: [], dropped: 0 });
      },
      changeBlocks: () => Promise.resolve(),
    },
    kernel: {
      canDrop: true,
      replaceBlocked: () => Promise.resolve(),
      changeBlocked: () => Promise.resolve(),
    },
    alwaysAllowed: () => [],
    line: () => null,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  onTestFinished(() => set.stop());
  await vi.waitFor(() => expect(setting).toHaveBeenCalled());
  set.settingChanged();
  first.resolve({ zoneID: 'a zone', max: 10 });
  await vi.waitFor(
    () => {
      vi.advanceTimersByTime(1000);
      // The third round shows that an unchanged setting is not read again.
      expect(rooms.slice(0, 3)).toEqual([10, 20, 20]);
    },
    { timeout: 30_000 },
  );
  expect(setting).toHaveBeenCalledTimes(2);
});
