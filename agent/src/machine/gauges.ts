// How visitors fare, read off the access log when somebody asks: a request costs nothing for being counted. What was written
// since the last question is read as a whole or, where it is very much, its last part stands for all of it.
import { open, stat } from 'node:fs/promises';

export interface Gauges {
  /** Both count from the first question on. */
  requests: number;
  serverErrors: number;
  /** Whom we turned away ourselves, and no origin. */
  refused: number;
  p99Ms: number | null;
}

interface Row {
  time: number;
  status: number;
  ms: number;
  cause: string;
}

const MOST_BYTES = 8 * 1024 * 1024;
/** What a percentile is taken of. */
const RECENT_S = 10;
const RECENT_MOST = 100_000;

export class GaugesReader {
  readonly #file: string;
  #ino = 0;
  #at: number | null = null;
  #requests = 0;
  #serverErrors = 0;
  #refused = 0;
  #recent: { time: number; ms: number }[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  async read(now = Date.now()): Promise<Gauges> {
    const { size, ino } = await stat(this.#file).catch(() => ({ size: 0, ino: 0 }));
    const isFirst = this.#at === null;
    // Another file: the log was rotated.
    if (ino !== this.#ino || size < (this.#at ?? 0)) this.#at = isFirst ? Math.max(0, size - MOST_BYTES) : 0;
    this.#ino = ino;
    const from = this.#at ?? 0;
    const lines = await this.#lines(Math.max(from, size - MOST_BYTES), size);
    this.#at = lines.end;
    const share = Math.max(1, (lines.end - from) / Math.max(1, lines.end - Math.max(from, size - MOST_BYTES)));
    const rows = rowsOf(lines.text);
    if (!isFirst) {
      this.#requests += Math.round(rows.length * share);
      this.#serverErrors += Math.round(rows.filter(({ status }) => status >= 500 && status <= 599).length * share);
      this.#refused += Math.round(rows.filter(isRefused).length * share);
    }
    const since = now / 1000 - RECENT_S;
    this.#recent = [...this.#recent, ...rows].filter(({ time }) => time >= since).slice(-RECENT_MOST);
    return {
      requests: this.#requests,
      serverErrors: this.#serverErrors,
      refused: this.#refused,
      p99Ms: p99(this.#recent),
    };
  }

  /** Whole lines only: `end` is where the next look begins. */
  async #lines(from: number, to: number): Promise<{ text: string; end: number }> {
    if (to <= from) return { text: '', end: to };
    const handle = await open(this.#file).catch(() => null);
    if (handle === null) return { text: '', end: to };
    try {
      const bytes = Buffer.alloc(to - from);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
      const cut = bytes.lastIndexOf(10, bytesRead - 1) + 1;
      return { text: bytes.toString('latin1', 0, cut), end: from + cut };
    } finally {
      await handle.close();
    }
  }
}

/** Whatever a visitor writes into a line has its quotes escaped, so these names are nginx's own. */
function rowsOf(text: string): Row[] {
  return Array.from(
    text.matchAll(/^\{"time":([\d.]+),.*?,"status":(\d{3}),.*?,"requestTime":([\d.]+),(?:.*,"cause":"([^"]*)")?/gm),
    ([, time, status, seconds, cause]) => ({
      time: Number(time),
      status: Number(status),
      ms: Number(seconds) * 1000,
      cause: cause ?? '',
    }),
  );
}

/**
 * 403 is what origins say as well. Whom anti-CC asks for a proof is not refused: where a flood is on, nearly all are asked, and who
 * switches it on against one wants just that.
 */
const isRefused = ({ status, cause }: Row) =>
  cause !== 'antiCC' && (status === 444 || status === 929 || (status === 403 && cause !== ''));

function p99(rows: readonly { ms: number }[]): number | null {
  if (rows.length === 0) return null;
  const sorted = rows.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? null;
}
