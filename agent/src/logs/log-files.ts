// The access log of one nginx on disk: rotated files, and the current one.
import { createHash } from 'node:crypto';
import { createReadStream, statSync, type Stats } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { MAX_BATCH_BYTES } from '@edgeloom/contract/edge/log-batches.ts';

const CURRENT = 'access.json';
const NEWLINE = 0x0a;
/** The part of a first line that identifies a file without a time of birth. */
const START_BYTES = 1024;

export interface LogFile {
  /** Also after the file was renamed. */
  id: string;
  path: string;
  size: number;
  isRotated: boolean;
}

/**
 * False on Linux before 4.11 (CentOS 7). There, Node has the time of the last change in its place. Files of /proc have
 * no time of birth.
 */
const HAS_BIRTH_TIMES = isBirthTimeKnown(statSync('/proc'));
function isBirthTimeKnown({ birthtimeMs, ctimeMs }: Stats): boolean {
  return birthtimeMs !== ctimeMs;
}

/** Null where the kernel or the file system of the logs has none. */
export const birthTimeOf = ({ birthtimeMs }: Pick<Stats, 'birthtimeMs'>): number | null =>
  HAS_BIRTH_TIMES && birthtimeMs > 0 ? Math.floor(birthtimeMs) : null;

/** The oldest first. The current file is the last. */
export async function findLogFiles(dir: string, readBirthTime = birthTimeOf): Promise<LogFile[]> {
  const names = (await readdir(dir)).filter((name) => /^access\.json(\.\d{8}T\d{9}Z)?$/.test(name)).sort();
  const oldestFirst = [...names.filter((name) => name !== CURRENT), ...names.filter((name) => name === CURRENT)];
  const files = await Promise.all(
    oldestFirst.map(async (name) => {
      const file = path.join(dir, name);
      // The file may have been deleted since it was listed.
      const found = await stat(file).catch(() => null);
      if (found === null) return null;
      const birth = readBirthTime(found) ?? (await hashOfStart(file).catch(() => null));
      return birth === null
        ? null
        : { id: `${found.ino}-${birth}`, path: file, size: found.size, isRotated: name !== CURRENT };
    }),
  );
  return files.filter((file) => file !== null);
}

/** Distinguishes files that had the same inode: a line has a time and the id of its request. */
async function hashOfStart(file: string): Promise<string> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
    const end = buffer.subarray(0, bytesRead).indexOf(NEWLINE);
    // Without a whole line nothing is sent yet.
    const start = end < 0 && bytesRead < START_BYTES ? '' : buffer.subarray(0, end < 0 ? START_BYTES : end);
    return createHash('sha256').update(start).digest('hex').slice(0, 16);
  } finally {
    await handle.close();
  }
}

/** Whole lines up to the size of a batch. Empty while nginx has not completed a line. */
export async function readWholeLines(file: string, from: number): Promise<Buffer> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_BATCH_BYTES), 0, MAX_BATCH_BYTES, from);
    const end = buffer.lastIndexOf(NEWLINE, bytesRead - 1) + 1;
    // No line of nginx is that long: the file is damaged.
    return end === 0 && bytesRead === MAX_BATCH_BYTES ? buffer : buffer.subarray(0, end);
  } finally {
    await handle.close();
  }
}

export async function countLines(file: string, from: number): Promise<number> {
  let lines = 0;
  for await (const chunk of createReadStream(file, { start: from })) {
    const bytes: Buffer = chunk;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1;
  }
  return lines;
}
