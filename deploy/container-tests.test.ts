import { afterEach, beforeEach, expect, test, vi } from 'vitest';
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

test('a run without tests in containers starts no daemon', async () => {
  const stop = await prepareContainers(['tests/browser']);
  await stop();
  expect(process.env['DOCKER_HOST']).toBe('unix:///no/daemon.sock');
});
