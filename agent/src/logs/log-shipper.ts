// Sends the access log of one nginx to the control plane in order: rotated files first, then the current one. A line
// may be sent twice, but counts once: the control plane stores the position reached with the lines, and its reply
// decides where a file continues. Saved positions only spare repetition. A batch waits until the last one is stored.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { LogBatch, LogReply } from '@edgeloom/contract/edge/log-batches.ts';
import * as z from 'zod';
import type { Log } from '../log.ts';
import { Loop } from '../loop.ts';
import { writeWhole } from '../store/durable.ts';
import { ClockSteps, machineClock, type Clock } from './clock-steps.ts';
import { findLogFiles, readWholeLines, type LogFile } from './log-files.ts';
import { Spool } from './spool.ts';

interface Parts {
  kind: LogBatch['kind'];
  /** The folder of nginx's logs, which also has the saved positions. */
  logs: string;
  /** Bound of the log files on disk. */
  maxBytes: number;
  /** Makes nginx begin a new file. */
  rotate: () => Promise<void>;
  /** Rejects while the control plane cannot be reached. */
  send: (batch: LogBatch) => Promise<LogReply>;
  clock?: Clock;
  log: Log;
}

const LOOK_EVERY_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** Without lines, an empty report is sent to the control plane this often: bills need to know that none are missing. */
const SILENT_MS = 60_000;
/** In empty reports of a node whose second nginx never ran. */
const NO_FILE = 'none';
const compress = promisify(gzip);
const Positions = z.record(z.string(), z.int().min(0));

export class LogShipper {
  readonly #parts: Parts;
  readonly #positions: string;
  readonly #spool: Spool;
  readonly #clockSteps: ClockSteps;
  readonly #sending: Loop;
  readonly #bounding: Loop;
  /** The next byte to send, by file. */
  #reached = new Map<string, number>();
  readonly #reachedOf = (id: string): number => this.#reached.get(id) ?? 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  /** Since the agent started. */
  readonly sent = { bytes: 0, batches: 0 };

  constructor(parts: Parts) {
    const { logs, maxBytes, rotate, log } = parts;
    this.#parts = parts;
    this.#positions = path.join(logs, 'positions.json');
    this.#clockSteps = new ClockSteps(parts.clock ?? machineClock);
    this.#spool = new Spool({ dir: logs, maxBytes, reached: this.#reachedOf, rotate, log });
    const loaded = readPositions(this.#positions).then((positions) => (this.#reached = positions));
    this.#sending = new Loop({
      task: async () => {
        await loaded;
        return (await this.#sendNextBatch()) ? 0 : LOOK_EVERY_MS;
      },
      retryMs: LOOK_EVERY_MS,
      maxRetryMs: LONGEST_PAUSE_MS,
      onError: (error) => log.warn('the access log could not be sent', { error }),
    });
    this.#bounding = new Loop({
      task: async () => {
        await loaded;
        this.#clockSteps.look(await findLogFiles(logs), this.#reachedOf);
        await this.#spool.enforceLimits();
        return LOOK_EVERY_MS;
      },
      retryMs: LOOK_EVERY_MS,
      onError: (error) => log.warn('the access log on disk could not be bounded', { error }),
    });
  }

  async stop(): Promise<void> {
    await Promise.all([this.#sending.stop(), this.#bounding.stop()]);
  }

  get dropped(): Spool['dropped'] {
    return this.#spool.dropped;
  }

  async waitingBytes(): Promise<number> {
    const files = await findLogFiles(this.#parts.logs);
    return files.reduce((sum, { id, size }) => sum + Math.max(0, size - this.#reachedOf(id)), 0);
  }

  /** Sends one batch. Returns whether another may follow at once. */
  async #sendNextBatch(): Promise<boolean> {
    const files = await findLogFiles(this.#parts.logs);
    if (!this.#clockSteps.look(files, this.#reachedOf)) return false;
    for (const file of files) {
      const from = this.#reachedOf(file.id);
      const lines = file.size > from ? await readWholeLines(file.path, from) : Buffer.alloc(0);
      if (lines.length === 0) continue;
      await this.#send(file.id, from, lines, files);
      return true;
    }
    const current = files.at(-1)?.id ?? (this.#parts.kind === 'sessions' ? NO_FILE : undefined);
    if (current !== undefined && performance.now() - this.#sentAt > SILENT_MS)
      await this.#send(current, this.#reachedOf(current), Buffer.alloc(0), files);
    return false;
  }

  async #send(file: string, from: number, wholeLines: Buffer, files: readonly LogFile[]): Promise<void> {
    const { kind } = this.#parts;
    const { lines, sentAt } = this.#clockSteps.cut(file, from, wholeLines);
    const compressed = (await compress(lines)).toString('base64');
    const batch = { file, kind, from, to: from + lines.length, sentAt, lines: compressed };
    const { reached } = await this.#parts.send(batch);
    this.#sentAt = performance.now();
    if (reached === batch.to) {
      this.sent.bytes += lines.length;
      this.sent.batches += 1;
    }
    this.#reached.set(file, reached);
    const positions = files.flatMap(({ id }) => (this.#reached.has(id) ? [[id, this.#reached.get(id)] as const] : []));
    // Fails on a full disk. The control plane knows the positions as well.
    await writeWhole(this.#positions, `${JSON.stringify(Object.fromEntries(positions))}\n`, 0o600).catch(
      (error: unknown) => this.#parts.log.warn('the positions of the access log were not saved', { error }),
    );
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
