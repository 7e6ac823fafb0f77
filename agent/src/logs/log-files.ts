// The access log of one nginx on disk: rotated files, and the current one.
import { createReadStream } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { MAX_BATCH_BYTES } from '@edgeloom/contract/edge/log-batches.ts';

const CURRENT = 'access.json';
const NEWLINE = 0x0a;

export interface LogFile {
  /** Also after the file was renamed. */
  id: string;
  path: string;
  size: number;
  isRotated: boolean;
}

/** The oldest first. The current file is the last. */
export async function findLogFiles(dir: string): Promise<LogFile[]> {
  const names = (await readdir(dir)).filter((name) => /^access\.json(\.\d{8}T\d{9}Z)?$/.test(name)).sort();
  const oldestFirst = [...names.filter((name) => name !== CURRENT), ...names.filter((name) => name === CURRENT)];
  const files = await Promise.all(
    oldestFirst.map(async (name) => {
      const file = path.join(dir, name);
      // The file may have been deleted since it was listed.
      const found = await stat(file).catch(() => null);
      return (
        found && {
          id: `${found.ino}-${Math.floor(found.birthtimeMs)}`,
          path: file,
          size: found.size,
          isRotated: name !== CURRENT,
        }
      );
    }),
  );
  return files.filter((file) => file !== null);
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
