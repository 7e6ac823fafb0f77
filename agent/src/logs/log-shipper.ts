// Sends the access log to the control plane in order: rotated files first, then the current one. A line may be sent
// twice, but counts once: the control plane stores the position reached with the lines, and its reply decides where a
// file continues. Saved positions only spare repetition.
import { open, readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { MAX_BATCH_BYTES } from '@edgeloom/contract/edge/log-batches.ts';
import type { LogBatch, LogReply } from '@edgeloom/contract/edge/log-batches.ts';
import * as z from 'zod';
import type { Log } from '../log.ts';
import { Loop } from '../loop.ts';
import { writeWhole } from '../store/durable.ts';

interface Parts {
  /** The folder of nginx's logs. */
  logs: string;
  /** The file with the saved positions. */
  positions: string;
  /** Rejects while the control plane cannot be reached. */
  send: (batch: LogBatch) => Promise<LogReply>;
  log: Log;
}

const LOOK_EVERY_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** Without requests, an empty report is sent to the control plane this often. */
const SILENT_MS = 60_000;
const NEWLINE = 0x0a;
const CURRENT = 'access.json';
const compress = promisify(gzip);
const Positions = z.record(z.string(), z.int().min(0));

interface LogFile {
  id: string;
  path: string;
  size: number;
}

export class LogShipper {
  readonly #parts: Parts;
  readonly #loop: Loop;
  /** The next byte to send, by file. */
  #reached = new Map<string, number>();
  #sentAt = Number.NEGATIVE_INFINITY;
  /** Since the agent started. */
  readonly sent = { bytes: 0, batches: 0 };

  constructor(parts: Parts) {
    this.#parts = parts;
    const loaded = readPositions(parts.positions).then((positions) => (this.#reached = positions));
    this.#loop = new Loop({
      task: async () => {
        await loaded;
        return (await this.#sendNextBatch()) ? 0 : LOOK_EVERY_MS;
      },
      retryMs: LOOK_EVERY_MS,
      maxRetryMs: LONGEST_PAUSE_MS,
      onError: (error) => parts.log.warn('the access log could not be sent', { error }),
    });
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async waitingBytes(): Promise<number> {
    const files = await logFiles(this.#parts.logs);
    return files.reduce((sum, { id, size }) => sum + Math.max(0, size - (this.#reached.get(id) ?? 0)), 0);
  }

  /** Sends one batch. Returns whether another may follow at once. */
  async #sendNextBatch(): Promise<boolean> {
    const files = await logFiles(this.#parts.logs);
    for (const file of files) {
      const from = this.#reached.get(file.id) ?? 0;
      const lines = file.size > from ? await wholeLines(file.path, from) : Buffer.alloc(0);
      if (lines.length === 0) continue;
      await this.#send(file.id, from, lines, files);
      return true;
    }
    const current = files.at(-1);
    if (current !== undefined && performance.now() - this.#sentAt > SILENT_MS)
      await this.#send(current.id, this.#reached.get(current.id) ?? 0, Buffer.alloc(0), files);
    return false;
  }

  async #send(file: string, from: number, lines: Buffer, files: readonly LogFile[]): Promise<void> {
    const compressed = (await compress(lines)).toString('base64');
    const batch = { file, from, to: from + lines.length, sentAt: Date.now(), lines: compressed };
    const { reached } = await this.#parts.send(batch);
    this.#sentAt = performance.now();
    if (reached === batch.to) {
      this.sent.bytes += lines.length;
      this.sent.batches += 1;
    }
    this.#reached.set(file, reached);
    const positions = files.flatMap(({ id }) => (this.#reached.has(id) ? [[id, this.#reached.get(id)] as const] : []));
    // Fails on a full disk. The control plane knows the positions as well.
    await writeWhole(this.#parts.positions, `${JSON.stringify(Object.fromEntries(positions))}\n`, 0o600).catch(
      (error: unknown) => this.#parts.log.warn('the positions of the access log were not saved', { error }),
    );
  }
}

/** The oldest first. The current file is the last. */
async function logFiles(logs: string): Promise<LogFile[]> {
  const names = (await readdir(logs)).filter((name) => /^access\.json(\.\d{8}T\d{9}Z)?$/.test(name)).sort();
  const oldestFirst = [...names.filter((name) => name !== CURRENT), ...names.filter((name) => name === CURRENT)];
  const files = await Promise.all(
    oldestFirst.map(async (name) => {
      const file = path.join(logs, name);
      // Rotation may have deleted the file since it was listed.
      const found = await stat(file).catch(() => null);
      return found && { id: `${found.ino}-${Math.floor(found.birthtimeMs)}`, path: file, size: found.size };
    }),
  );
  return files.filter((file) => file !== null);
}

/** Whole lines up to the size of a batch. Empty while nginx has not completed a line. */
async function wholeLines(file: string, from: number): Promise<Buffer> {
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

async function readPositions(file: string): Promise<Map<string, number>> {
  try {
    return new Map(Object.entries(Positions.parse(JSON.parse(await readFile(file, 'utf8')))));
  } catch {
    // The control plane knows them as well.
    return new Map();
  }
}
