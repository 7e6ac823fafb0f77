import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { daemonPlaces } from '../tests/support/services/docker-daemon.ts';
import { localImage, requireImage } from '../tests/support/services/local-images.ts';
import { prepareContainers } from './container-tests.ts';

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

test('a run without tests in containers starts no daemon', async () => {
  const stop = await prepareContainers(['tests/browser']);
  await stop();
  expect(process.env['DOCKER_HOST']).toBe('unix:///no/daemon.sock');
});
