// Limits the access log on the disk, so that nginx can write new lines: lines that it cannot write are lost uncounted.
// Rotated files are deleted, sent ones first, then the oldest, and unsent lines are counted. Up to ten sent files stay.
import { rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from '../log.ts';
import { findFilesInUse } from '../nginx/processes.ts';
import { countLines, findLogFiles, type LogFile } from './log-files.ts';

interface Deps {
  dir: string;
  /** The sum of all files. */
  maxBytes: number;
  /** The first byte of a file that was not sent. */
  reached: (id: string) => number;
  /** Makes nginx begin a new file. */
  rotate: () => Promise<void>;
  readDisk?: (dir: string) => Promise<Disk>;
  log: Log;
}

/** In bytes. */
interface Disk {
  size: number;
  free: number;
}
async function diskOf(dir: string): Promise<Disk> {
  const { bsize, blocks, bavail } = await statfs(dir);
  return { size: blocks * bsize, free: bavail * bsize };
}

export interface Dropped {
  lines: number;
  bytes: number;
}

/** Sent files that stay. */
const MAX_SENT_FILES = 10;
/** The current file is rotated at this share of the limit, because only rotated files can be deleted. */
const ROTATED_SHARE = 1 / 8;
/** Bytes that stay free for new lines. On small disks it is an eighth. */
const MAX_RESERVE_BYTES = 64 * 1024 * 1024;
const reserveOf = ({ size }: Disk) => Math.min(MAX_RESERVE_BYTES, size / 8);

export class Spool {
  readonly #deps: Deps;
  /** Lines deleted before they were sent, since the agent started. A batch on its way may count as well. */
  readonly dropped: Dropped = { lines: 0, bytes: 0 };

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async enforceLimits(): Promise<void> {
    const { dir, reached, rotate } = this.#deps;
    const files = await findLogFiles(dir);
    const maxBytes = await this.#currentMaxBytes(files);
    const rotated = files.filter(({ isRotated }) => isRotated);
    const sent = rotated.filter(({ id, size }) => reached(id) >= size);
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    await this.#deleteFiles([...sent, ...rotated.filter((file) => !sent.includes(file))], {
      minFiles: Math.max(0, sent.length - MAX_SENT_FILES),
      minBytes: bytes - maxBytes,
    });
    const current = files.at(-1);
    if (current !== undefined && !current.isRotated && current.size > maxBytes * ROTATED_SHARE) await rotate();
  }

  /** Deletes files from the first on, until `minFiles` are passed and `minBytes` freed. Files in use stay. */
  async #deleteFiles(
    files: readonly LogFile[],
    { minFiles, minBytes }: { minFiles: number; minBytes: number },
  ): Promise<void> {
    if (files.length === 0 || (minFiles === 0 && minBytes <= 0)) return;
    const { dir } = this.#deps;
    // nginx may still write to a file in use. Deleting it would lose those lines uncounted, and free no room.
    const inUse = await findFilesInUse(path.dirname(dir), dir);
    let freed = 0;
    for (const [i, file] of files.entries()) {
      if (i >= minFiles && freed >= minBytes) return;
      if (inUse.has(file.path)) continue;
      freed += file.size;
      await this.#delete(file);
    }
  }

  /** At least the reserve: if other files fill the disk, a smaller limit would rotate the current file each second. */
  async #currentMaxBytes(files: readonly LogFile[]): Promise<number> {
    const { dir, maxBytes, readDisk = diskOf } = this.#deps;
    const disk = await readDisk(dir).catch(() => null);
    if (disk === null) return maxBytes;
    const reserve = reserveOf(disk);
    const room = files.reduce((sum, { size }) => sum + size, 0) + disk.free - reserve;
    return Math.min(maxBytes, Math.max(room, reserve));
  }

  async #delete({ id, path: file }: LogFile): Promise<void> {
    const from = this.#deps.reached(id);
    const unsent = await countUnsent(file, from);
    if (unsent === null) return;
    await rm(file, { force: true });
    const { lines, bytes } = unsent;
    if (bytes === 0) return;
    this.dropped.lines += lines;
    this.dropped.bytes += bytes;
    this.#deps.log.warn('the oldest access log was deleted before it was sent: no room', { lines, bytes });
  }
}

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** The file may have grown since it was found. Null: an operator has deleted it. */
async function countUnsent(file: string, from: number): Promise<Dropped | null> {
  try {
    const { size } = await stat(file);
    return from < size ? { lines: await countLines(file, from), bytes: size - from } : { lines: 0, bytes: 0 };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
