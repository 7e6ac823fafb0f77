// Saves screenshots to `.data/artifacts/<name>.png`, if EDGELOOM_PICTURES=1.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';

const folder = path.join(import.meta.dirname, '../../../.data/artifacts');

const isWanted = process.env['EDGELOOM_PICTURES'] === '1';
const nextFrames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

/** Waits for the frames of a screenshot in any case, so that a test does the same in both. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (!isWanted) return void (await page.evaluate(nextFrames));
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`) });
}
