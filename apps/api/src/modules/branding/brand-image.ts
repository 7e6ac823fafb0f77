import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { brandLimits, type BrandSlot } from '@edgeloom/contract/branding/branding.ts';
import { failAt } from '../../core/fail.ts';
import type { Checked } from './check-image.worker.ts';

export type BrandImageFormat = 'png' | 'jpeg' | 'webp' | 'svg' | 'ico';

/** Most take half a second; a machine under load takes its time, and a loop takes for ever. */
const PATIENCE_MS = 30_000;

/** What may be stored of an uploaded file, by what is in it: neither its name nor its declared type counts. */
export async function brandImage(slot: BrandSlot, file: File) {
  const { bytes: bytesAtMost, pixels } = brandLimits[slot];
  if (file.size > bytesAtMost) failAt(slot, 'size', `at most ${bytesAtMost} bytes`);
  const checked = await inThread({ bytes: await file.bytes(), pixels });
  if ('fault' in checked) return failAt(slot, checked.fault, messages(pixels)[checked.fault]);
  const bytes = Buffer.from(checked.bytes);
  return { slot, format: checked.format, bytes, hash: createHash('sha256').update(bytes).digest('hex') };
}

const messages = (pixels: number) => ({
  imageType: 'PNG, JPEG, WebP, SVG or ICO',
  pixels: `at most ${pixels} pixels wide and high`,
  svg: 'an SVG without entities and without what could run',
});

async function inThread(workerData: { bytes: Uint8Array; pixels: number }): Promise<Checked> {
  const worker = new Worker(new URL('check-image.worker.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const { promise, resolve } = Promise.withResolvers<Checked>();
  const unread: Checked = { fault: 'imageType' };
  worker.once('message', resolve);
  // Out of memory, or ended by the clock.
  worker.once('error', () => resolve(unread));
  worker.once('exit', () => resolve(unread));
  const timer = setTimeout(() => void worker.terminate(), PATIENCE_MS);
  const checked = await promise;
  clearTimeout(timer);
  await worker.terminate();
  return checked;
}
