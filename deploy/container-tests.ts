// Prepares the tests in containers for npm run test:long: a Docker daemon and their images.
import path from 'node:path';
import { containerBase } from '../tests/support/services/container-base.ts';
import { ensureDocker } from '../tests/support/services/docker-daemon.ts';
import { ensureImage } from '../tests/support/services/local-images.ts';
import { systemdImage } from '../tests/support/services/systemd-image.ts';
import { line, step } from './steps.mjs';

const root = path.join(import.meta.dirname, '..');

const imagesByFile = {
  'tests/flows/containers.long.test.ts': containerBase,
  'tests/flows/node-install-systemd.long.test.ts': systemdImage,
};

/**
 * Prepares what the tests that `filters` select need. Errors are printed and not thrown: the tests fail with their own.
 * @returns a function that stops the daemon.
 */
export async function prepareContainers(filters: readonly string[]): Promise<() => Promise<void>> {
  const isSelected = (file: string) =>
    filters.length === 0 || filters.some((filter) => path.join(root, file).includes(path.normalize(filter)));
  const images = Object.entries(imagesByFile).flatMap(([file, image]) => (isSelected(file) ? [image] : []));
  let stop = async (): Promise<void> => undefined;
  if (images.length === 0) return stop;
  try {
    stop = await step('Docker', (report) =>
      ensureDocker(path.join(root, '.data/docker'), () => report('waiting for another checkout')),
    );
    for (const image of images)
      await step(`Image ${image.tag}`, () => ensureImage(image), { quiet: (result) => result === 'current' });
  } catch (error) {
    line(`The tests in containers will fail: ${error instanceof Error ? error.message : String(error)}`);
  }
  return () => stop().catch((error: unknown) => line(`Docker was not cleaned up: ${String(error)}`));
}
