import { createHash } from 'node:crypto';
import { brandLimits, type BrandSlot } from '@edgeloom/contract/branding/branding.ts';
import { failAt } from '../../core/fail.ts';
import { inThread } from '../../core/thread.ts';
import type { Checked } from './check-image.worker.ts';

/** Most take half a second; a machine under load takes its time, and a loop takes for ever. */
const PATIENCE_MS = 30_000;

const worker = new URL('check-image.worker.ts', import.meta.url);

/** What may be stored of an uploaded file, by what is in it: neither its name nor its declared type counts. */
export async function brandImage(slot: BrandSlot, file: File) {
  const { bytes: bytesAtMost, pixels } = brandLimits[slot];
  if (file.size > bytesAtMost) failAt(slot, 'size', `at most ${bytesAtMost} bytes`);
  const given = { bytes: await file.bytes(), pixels };
  const checked = await inThread<Checked>(worker, given, { unread: { fault: 'imageType' }, patienceMs: PATIENCE_MS });
  if ('fault' in checked) return failAt(slot, checked.fault, messages(pixels)[checked.fault]);
  const bytes = Buffer.from(checked.bytes);
  return { slot, format: checked.format, bytes, hash: createHash('sha256').update(bytes).digest('hex') };
}

const messages = (pixels: number) => ({
  imageType: 'PNG, JPEG, WebP, SVG or ICO',
  pixels: `at most ${pixels} pixels wide and high`,
  svg: 'an SVG without entities and without what could run',
});
