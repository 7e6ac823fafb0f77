import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { daemonPlaces, ensureDocker } from '../tests/support/services/docker-daemon.ts';
import { localImage, requireImage } from '../tests/support/services/local-images.ts';
import { prepareContainers } from './container-tests.ts';
import { lockFile } from './machine-lock.mjs';

const image = (sources: string[]) => localImage('base', sources, async () => undefined);

beforeEach(() => vi.stubEnv('DOCKER_HOST', 'unix:///no/daemon.sock'));
afterEach(() => vi.unstubAllEnvs());

test('a test in containers fails with a sentence when no Docker daemon runs', async () => {
  await expect(requireImage(image(['a']))).rejects.toThrow(
    'No Docker daemon answers. npm run test:long starts a daemon and builds the images, as root on Debian.',
  );
});

test('an image has another name when one of its sources has changed', () => {
  expect(image(['a', 'b']).tag).toBe(image(['a', 'b']).tag);
  expect(image(['a', 'b']).tag).not.toBe(image(['a', 'c']).tag);
  expect(image(['a', 'b']).tag).not.toBe(image(['ab']).tag);
});

test('the Docker daemons of two checkouts share no folder, no socket and no network interface', () => {
  const [one, other] = [daemonPlaces('/one/.data/docker'), daemonPlaces('/other/.data/docker')];
  for (const place of ['runDir', 'host', 'bridge'] as const) expect(one[place]).not.toBe(other[place]);
  // The kernel's limit.
  expect(one.bridge.length).toBeLessThanOrEqual(15);
});

// Regression: both daemons gave their bridges the same network.
test('the daemons of two checkouts start one after the other', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-docker-test-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const programs = {
    ip: `[ "$2" = delete ] || echo bridge >> ${dir}/log`,
    dockerd: `while [ "$1" != --host ]; do shift; done
      touch "\${2#unix://}"
      exec sleep 600`,
    docker: `[ "$1" != version ] || { test -e "\${DOCKER_HOST#unix://}" && echo daemon >> ${dir}/log; }`,
  };
  for (const [name, script] of Object.entries(programs))
    await writeFile(path.join(dir, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${dir}:${process.env['PATH']}`);
  const asRoot = vi.spyOn(process, 'getuid').mockReturnValue(0);
  onTestFinished(() => asRoot.mockRestore());

  // The lock of the machine may be taken by a run that starts a daemon now.
  const lock = path.basename(dir);
  onTestFinished(() => rm(lockFile(lock), { force: true }));
  const starts = ['one', 'other'].map((name) => ensureDocker(path.join(dir, name), () => undefined, lock));
  for (const stop of await Promise.all(starts)) await stop();
  const events = (await readFile(path.join(dir, 'log'), 'utf8')).trim().split('\n');
  expect(events).toEqual(['bridge', 'daemon', 'bridge', 'daemon']);
});

test('a run without tests in containers starts no daemon', async () => {
  const stop = await prepareContainers(['tests/browser']);
  await stop();
  expect(process.env['DOCKER_HOST']).toBe('unix:///no/daemon.sock');
});
