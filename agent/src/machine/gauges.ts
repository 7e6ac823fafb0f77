// How visitors fare, read off the access log when somebody asks: a request costs nothing for being counted. What was written
// since the last question is read as a whole or, where it is very much, its last part stands for all of it.
import { open, stat } from 'node:fs/promises';
import type { NodeGauges } from '@edgeloom/contract/edge/messages.ts';

export interface Gauges {
  /** Both count from the first question on. */
  requests: number;
  serverErrors: number;
  /** Whom we turned away ourselves, and no origin. */
  refused: number;
  p99Ms: number | null;
  /** Since the question before, of sites that this node serves. */
  since: NonNullable<NodeGauges['since']>;
}

interface Row {
  time: number;
  /** '': it was answered before anybody asked whose it is. */
  site: string;
  host: string;
  status: number;
  ms: number;
  cause: string;
}

/** Whose site answers to a host; null: nobody's, so that a name that a visitor made up is none of ours. */
export type SiteOf = (host: string) => Promise<string | null>;

type Tally = Omit<Gauges['since'], 'sites'>;

const MOST_BYTES = 8 * 1024 * 1024;
/** What a percentile is taken of. */
const RECENT_S = 10;
const RECENT_MOST = 100_000;
const MOST_SITES = 1000;

export class GaugesReader {
  readonly #file: string;
  #ino = 0;
  #at: number | null = null;
  #requests = 0;
  #serverErrors = 0;
  #refused = 0;
  #recent: { time: number; ms: number }[] = [];

  readonly #siteOf: SiteOf;

  constructor(file: string, siteOf: SiteOf) {
    this.#file = file;
    this.#siteOf = siteOf;
  }

  async read(now = Date.now(), slowMs = Infinity): Promise<Gauges> {
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
      this.#serverErrors += Math.round(rows.filter(isServerError).length * share);
      this.#refused += Math.round(rows.filter(isRefused).length * share);
    }
    const since = now / 1000 - RECENT_S;
    this.#recent = [...this.#recent, ...rows.map(({ time, ms }) => ({ time, ms }))]
      .filter(({ time }) => time >= since)
      .slice(-RECENT_MOST);
    return {
      requests: this.#requests,
      serverErrors: this.#serverErrors,
      refused: this.#refused,
      p99Ms: p99(this.#recent),
      since: bySite(isFirst ? [] : await this.#told(rows), slowMs, share),
    };
  }

  async #told(rows: readonly Row[]): Promise<Row[]> {
    const told: Row[] = [];
    const known = new Map<string, string | null>();
    for (const row of rows) {
      if (row.site === '' && !known.has(row.host)) known.set(row.host, await this.#siteOf(row.host));
      const site = row.site === '' ? known.get(row.host) : row.site;
      if (site != null) told.push({ ...row, site });
    }
    return told;
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
    text.matchAll(
      /^\{"time":([\d.]+),(?:(?:"relayed":true,)?"id":"[^"]*","site":"([^"]*)","domain":"[^"]*","host":"([^"]*)",)?.*?"status":(\d{3}),.*?,"requestTime":([\d.]+),(?:.*,"cause":"([^"]*)")?/gm,
    ),
    ([, time, site, host, status, seconds, cause]) => ({
      time: Number(time),
      site: site ?? '',
      host: host ?? '',
      status: Number(status),
      ms: Number(seconds) * 1000,
      cause: cause ?? '',
    }),
  );
}

const isServerError = ({ status }: Row) => status >= 500 && status <= 599;

/** In all, and of those sites where something was not as it should be: how many these are is bounded by what this node serves. */
function bySite(rows: readonly Row[], slowMs: number, share: number): Gauges['since'] {
  const all: Tally = { requests: 0, serverErrors: 0, refused: 0, slow: 0 };
  const sites = new Map<string, Tally>();
  for (const row of rows) {
    const site = sites.get(row.site) ?? { requests: 0, serverErrors: 0, refused: 0, slow: 0 };
    sites.set(row.site, site);
    for (const tally of [all, site]) {
      tally.requests += 1;
      tally.serverErrors += Number(isServerError(row));
      tally.refused += Number(isRefused(row));
      tally.slow += Number(row.ms > slowMs);
    }
  }
  const whole = (tally: Tally): Tally => ({
    requests: Math.round(tally.requests * share),
    serverErrors: Math.round(tally.serverErrors * share),
    refused: Math.round(tally.refused * share),
    slow: Math.round(tally.slow * share),
  });
  const worst = Array.from(sites, ([site, tally]) => ({ site, ...whole(tally) }))
    .map((row) => ({ ...row, bad: row.serverErrors + row.refused + row.slow }))
    .filter(({ bad }) => bad > 0)
    .sort((a, b) => b.bad - a.bad)
    .slice(0, MOST_SITES);
  return {
    ...whole(all),
    sites: worst.map(({ site, requests, serverErrors, refused, slow }) => [
      site,
      requests,
      serverErrors,
      refused,
      slow,
    ]),
  };
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
