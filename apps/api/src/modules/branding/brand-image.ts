import { createHash } from 'node:crypto';
import { brandLimits, type BrandSlot } from '@edgeloom/contract/branding/branding.ts';
import { failAt } from '../../core/fail.ts';
import { runInWorker } from '../../core/worker-pool.ts';
import type { Checked } from './check-image.worker.ts';

/** Most checks take half a second. A loaded machine may take longer, and a looping parser never ends. */
const PATIENCE_MS = 30_000;

const worker = new URL('check-image.worker.ts', import.meta.url);

/** Validates an uploaded picture by its content. Its name and declared type are ignored. */
export async function brandImage(slot: BrandSlot, file: File) {
  const { bytes: bytesAtMost, pixels } = brandLimits[slot];
  if (file.size > bytesAtMost) failAt(slot, 'size', `at most ${bytesAtMost} bytes`);
  const given = { bytes: await file.bytes(), pixels };
  const checked = await runInWorker<Checked>(worker, given, {
    fallback: { fault: 'imageType' },
    timeoutMs: PATIENCE_MS,
  });
  if ('fault' in checked) return failAt(slot, checked.fault, messages(pixels)[checked.fault]);
  const bytes = Buffer.from(checked.bytes);
  return { slot, format: checked.format, bytes, hash: createHash('sha256').update(bytes).digest('hex') };
}

const messages = (pixels: number) => ({
  imageType: 'PNG, JPEG, WebP, SVG or ICO',
  pixels: `at most ${pixels} pixels wide and high`,
  svg: 'an SVG without entities and without what could run',
});
