// Traffic metrics, read from the access log on demand, so that counting costs a request nothing.
// Reads everything since the last call or, when that is too much, extrapolates from its last part.
import { open, stat } from 'node:fs/promises';
import type { NodeGauges } from '@edgeloom/contract/edge/messages.ts';

export interface TrafficMetrics {
  p99Ms: number | null;
  /** Since the previous call, for sites that this node serves. */
  since: NonNullable<NodeGauges['since']>;
}

interface Row {
  time: number;
  /** Empty: answered before the site was known. */
  site: string;
  host: string;
  status: number;
  ms: number;
  cause: string;
}

/** The site of a host. Null: no site of this node, for example an invented name. */
export type SiteOf = (host: string) => Promise<string | null>;

type Tally = Omit<TrafficMetrics['since'], 'sites'>;

const MAX_BYTES = 8 * 1024 * 1024;
/** Window of percentiles. */
const RECENT_S = 10;
const MAX_RECENT = 100_000;
const MAX_SITES = 1000;

export class TrafficMetricsReader {
  readonly #file: string;
  #ino = 0;
  #at: number | null = null;
  #recent: { time: number; ms: number }[] = [];

  readonly #siteOf: SiteOf;

  constructor(file: string, siteOf: SiteOf) {
    this.#file = file;
    this.#siteOf = siteOf;
  }

  async read(now = Date.now(), slowMs = Infinity): Promise<TrafficMetrics> {
    const { size, ino } = await stat(this.#file).catch(() => ({ size: 0, ino: 0 }));
    const isFirst = this.#at === null;
    // A different file: the log was rotated.
    if (ino !== this.#ino || size < (this.#at ?? 0)) this.#at = isFirst ? Math.max(0, size - MAX_BYTES) : 0;
    this.#ino = ino;
    const from = this.#at ?? 0;
    const lines = await this.#lines(Math.max(from, size - MAX_BYTES), size);
    this.#at = lines.end;
    const share = Math.max(1, (lines.end - from) / Math.max(1, lines.end - Math.max(from, size - MAX_BYTES)));
    const rows = rowsOf(lines.text);
    const since = now / 1000 - RECENT_S;
    this.#recent = [...this.#recent, ...rows.map(({ time, ms }) => ({ time, ms }))]
      .filter(({ time }) => time >= since)
      .slice(-MAX_RECENT);
    return {
      p99Ms: p99(this.#recent),
      since: bySite(isFirst ? [] : await this.#withSite(rows), slowMs, share),
    };
  }

  /** Only requests of sites that this node serves. */
  async #withSite(rows: readonly Row[]): Promise<Row[]> {
    const attributed: Row[] = [];
    const known = new Map<string, string | null>();
    for (const row of rows) {
      if (row.site === '' && !known.has(row.host)) known.set(row.host, await this.#siteOf(row.host));
      const site = row.site === '' ? known.get(row.host) : row.site;
      if (site != null) attributed.push({ ...row, site });
    }
    return attributed;
  }

  /** Whole lines only. `end` is where the next read begins. */
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

/** nginx escapes quotes in visitors' values, so these field names are its own. */
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

/** Totals and the sites with errors or slow responses. The result is bounded by the number of served sites. */
function bySite(rows: readonly Row[], slowMs: number, share: number): TrafficMetrics['since'] {
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
    .slice(0, MAX_SITES);
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
 * Origins send 403 too. An anti-CC challenge is not a refusal: under attack nearly everyone is challenged, as the
 * operator intends.
 */
const isRefused = ({ status, cause }: Row) =>
  cause !== 'antiCC' && (status === 444 || status === 929 || (status === 403 && cause !== ''));

function p99(rows: readonly { ms: number }[]): number | null {
  if (rows.length === 0) return null;
  const sorted = rows.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? null;
}
