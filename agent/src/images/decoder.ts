// A process that converts images to WebP, one at a time. Input is untrusted and decoders have bugs, so the process
// has no privileges, low priority and the highest OOM score. Its parent limits its time and memory.
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { loadLibrary } from './library.ts';

export interface Task {
  bytes: Uint8Array;
  quality: number;
}
/** Null: the image stays as it is. */
export type Done = Uint8Array | null;

/** Limit of decoded pixels per image. */
const MAX_PIXELS = 25_000_000;
/** WebP's limit. */
const MAX_SIDE = 16_383;
const NOBODY_UID = 65_534;

export function decode(): void {
  const sharp = loadLibrary();
  sharp.cache(false);
  sharp.concurrency(1);
  // Only JPEG and PNG are decoded, whatever the bytes claim to be.
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer'] });
  dropPrivileges();

  async function convert({ bytes, quality }: Task): Promise<Done> {
    if (isAnimated(bytes)) return null;
    const image = sharp(bytes, { limitInputPixels: MAX_PIXELS });
    const { format, width, height } = await image.metadata();
    if ((format !== 'jpeg' && format !== 'png') || Math.max(width, height) > MAX_SIDE) return null;
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

/** Drops privileges after the library is loaded, which may be unreadable for other users. */
function dropPrivileges(): void {
  setPriority(10);
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Some containers do not allow this write.
  }
  if (process.getuid?.() !== 0) return;
  process.setgroups?.([]);
  process.setgid?.(NOBODY_UID);
  process.setuid?.(NOBODY_UID);
}

/** APNG declares its frames before the first image. The library would read only that image. */
function isAnimated(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = text.indexOf('acTL');
  return text.readUInt32BE(0) === 0x89504e47 && at !== -1 && at < text.indexOf('IDAT');
}
