// A process that does nothing but make images WebP, one at a time. What it is given comes from strangers, and decoders have
// faults: so it has no rights, gives way to everything else, and is the first to go when memory runs out. Whoever started it
// keeps its time and its memory.
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { loadLibrary } from './library.ts';

export interface Task {
  bytes: Uint8Array;
  quality: number;
}
/** Null: the image stays as it is. */
export type Done = Uint8Array | null;

/** Of what an image is unpacked. */
const MOST_PIXELS = 25_000_000;
/** WebP knows none that is longer. */
const LONGEST_SIDE = 16_383;
const NOBODY = 65_534;

export function decode(): void {
  const sharp = loadLibrary();
  sharp.cache(false);
  sharp.concurrency(1);
  // Nothing but these two is ever unpacked, whatever the bytes say they are.
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer'] });
  stepDown();

  async function convert({ bytes, quality }: Task): Promise<Done> {
    if (isAnimated(bytes)) return null;
    const image = sharp(bytes, { limitInputPixels: MOST_PIXELS });
    const { format, width, height } = await image.metadata();
    if ((format !== 'jpeg' && format !== 'png') || Math.max(width, height) > LONGEST_SIDE) return null;
    const made = await image.autoOrient().webp({ quality }).toBuffer();
    return made.length < bytes.length ? made : null;
  }

  process.on('disconnect', () => process.exit());
  process.on('message', (task: Task) => {
    void convert(task)
      .catch(() => null)
      .then((done) => process.send?.(done ?? 'same'));
  });
  process.send?.('ready');
}

/** Only after the library is loaded: it may lie where nobody else may look. */
function stepDown(): void {
  setPriority(10);
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Some containers do not let anybody say so.
  }
  if (process.getuid?.() !== 0) return;
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}

/** A PNG says so before its first picture; the library would take that for all there is. */
function isAnimated(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = text.indexOf('acTL');
  return text.readUInt32BE(0) === 0x89504e47 && at !== -1 && at < text.indexOf('IDAT');
}
