// Makes a risk pack from feeds: files or http(s) URLs. The same feeds give the same pack.
//
// pnpm risk-pack --to FOLDER [--csv FEED]… [--list SCORE:FEED]…
//
// `--csv`: lines of `network,score`. `--list`: one network per line, all with this score. Comments start with # or ;.
// Reserved networks are skipped and counted. A suspiciously wide network or an unreadable feed aborts without output.
// Then sign the pack with `pnpm release --product risk --from FOLDER …`.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import {
  countsOf,
  encodeRiskPack,
  faultOf,
  flattened,
  networkOf,
  readRiskPack,
  RISK_FILE,
} from '@edgeloom/contract/edge/risk-pack.ts';
import type { RiskRange } from '@edgeloom/contract/edge/risk-pack.ts';

export interface Feed {
  /** A file or an http(s) URL. */
  from: string;
  /** Null when each line has its own score. */
  score: number | null;
}
export interface FeedReport {
  from: string;
  networks: number;
  reserved: number;
  unreadable: number;
}
export interface MadeRiskPack {
  file: string;
  feeds: FeedReport[];
  levels: ReturnType<typeof countsOf>;
}

/** Limits memory if a feed is far too large. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_NETWORKS = 4_000_000;
const WITHIN_MS = 120_000;
/** A list may have a few unreadable lines. An error page in place of a list has many. */
const MOST_UNREADABLE = 0.01;
const ANY_UNREADABLE = 10;

export async function makeRiskPack(feeds: readonly Feed[], to: string): Promise<MadeRiskPack> {
  const read: { networks: RiskRange[]; report: FeedReport }[] = [];
  for (const feed of feeds) read.push(readFeed(feed, await textOf(feed.from)));
  const networks = read.flatMap((one) => one.networks);
  if (networks.length > MOST_NETWORKS) throw new Error(`the feeds hold more than ${MOST_NETWORKS} networks`);
  const pack = encodeRiskPack(flattened(networks));
  // Validates the pack as nodes do.
  const levels = countsOf(readRiskPack(pack));
  await mkdir(to, { recursive: true });
  const file = path.join(to, RISK_FILE);
  await writeFile(`${file}.new`, pack);
  await rename(`${file}.new`, file);
  return { file, feeds: read.map(({ report }) => report), levels };
}

function readFeed({ from, score }: Feed, text: string): { networks: RiskRange[]; report: FeedReport } {
  const networks: RiskRange[] = [];
  const report = { from, networks: 0, reserved: 0, unreadable: 0 };
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    const entry = line.replace(/[#;].*/, '').trim();
    if (entry === '') continue;
    const range = readLine(entry, score);
    // The first line of a CSV may be a header.
    if (range === null) report.unreadable += Number(i > 0 || score !== null);
    else {
      const fault = faultOf(range);
      if (fault === 'tooWide')
        throw new Error(`${from}, line ${i + 1}: ${entry.slice(0, 60)} is wider than any list means`);
      if (fault === 'reserved') report.reserved += 1;
      else networks.push(range);
    }
  }
  report.networks = networks.length;
  const all = networks.length + report.reserved + report.unreadable;
  if (networks.length === 0 || report.unreadable > Math.max(ANY_UNREADABLE, all * MOST_UNREADABLE))
    throw new Error(`${from} is no list: ${report.unreadable} of ${all} lines cannot be read`);
  return { networks, report };
}

function readLine(entry: string, score: number | null): RiskRange | null {
  const [network = '', own = ''] = entry.split(',').map((field) => field.trim().replace(/^"(.*)"$/, '$1'));
  const of = score ?? (/^\d{1,3}$/.test(own) ? Number(own) : 0);
  if (of < 1 || of > 100) return null;
  try {
    return { ...networkOf(network), score: of };
  } catch {
    return null;
  }
}

async function textOf(from: string): Promise<string> {
  if (!/^https?:\/\//.test(from)) return readFile(from, 'utf8');
  const reply = await fetch(from, { signal: AbortSignal.timeout(WITHIN_MS) });
  if (!reply.ok || reply.body === null) throw new Error(`${from} answers ${reply.status}`);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of reply.body) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new Error(`${from} is larger than ${MOST_BYTES / 1024 / 1024} MiB`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** Parses `75:https://lists.example.com/a.txt`. */
export function listFeed(text: string): Feed {
  const [, score, from] = /^(\d{1,3}):(.+)$/.exec(text) ?? [];
  if (score === undefined || from === undefined || Number(score) < 1 || Number(score) > 100)
    throw new Error(`--list ${text}: a score from 1 to 100, a colon, and a file or an address are wanted`);
  return { from, score: Number(score) };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      to: { type: 'string' },
      csv: { type: 'string', multiple: true, default: [] },
      list: { type: 'string', multiple: true, default: [] },
    },
  });
  const feeds = [...values.csv.map((from): Feed => ({ from, score: null })), ...values.list.map(listFeed)];
  if (values.to === undefined || feeds.length === 0)
    throw new Error('usage: pnpm risk-pack --to FOLDER [--csv FEED]… [--list SCORE:FEED]…');
  const { file, feeds: reports, levels } = await makeRiskPack(feeds, values.to);
  for (const { from, networks, reserved, unreadable } of reports)
    console.log(`${from}: ${networks} networks; left out: ${reserved} reserved, ${unreadable} unreadable`);
  for (const { level, networks } of levels) console.log(`level ${level}: ${networks} networks`);
  console.log(file);
}
