// The requests themselves, for searches.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { NewRequests } from '../access-log/access-log.ts';
import { storable, type Line } from './log-lines.ts';
import type { Partitions } from './partitions.ts';

/** Nodes write no longer explanations. */
const MAX_WAF_LENGTH = 2048;
/** V8 takes fresh pages for strings above 128 KiB, which is slow. */
const ROWS_OF_CHUNK = 128;
const NULL = String.raw`\N`;
const escapes: Readonly<Record<string, string>> = {
  '\\': String.raw`\\`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  '\t': String.raw`\t`,
};
const ESCAPED = /[\\\n\r\t]/;
const ESCAPED_OR_UNSTORABLE = /[\\\n\r\t\0\ud800-\udfff]/;
/** A column of COPY's text format. */
export function text(value: string, length: number): string {
  if (value === '' || (value.length <= length && !ESCAPED_OR_UNSTORABLE.test(value))) return value;
  const stored = storable(value, length);
  return ESCAPED.test(stored) ? stored.replace(/[\\\n\r\t]/g, (character) => escapes[character] ?? '') : stored;
}

export const accessLogColumns = [
  'at',
  'id',
  'site_id',
  'domain_id',
  'node_id',
  'status',
  'port',
  'bytes',
  'request_bytes',
  'request_time',
  'upstream_time',
  'address',
  'country',
  'province',
  'isp',
  'host',
  'method',
  'scheme',
  'http_version',
  'uri',
  'args',
  'upstream',
  'cache',
  'user_agent',
  'referer',
  'cause',
  'rule',
  'trail',
  'weight',
  'waf',
];

/** In COPY's text format, without those that are too old or not sampled. */
export function rowsOf(
  partitions: Partitions,
  { nodeId, siteOf, samplingOf, lines, now }: Omit<NewRequests, 'zone'>,
): string[] {
  const since = partitions.since('access_log', now);
  return lines
    .filter((line) => line.at >= since && isSampled(line, samplingOf(line)))
    .map((line) => {
      const { country, province, isp } = line.location;
      return [
        new Date(line.at).toISOString(),
        line.id,
        siteOf(line),
        line.domain,
        nodeId,
        line.status,
        line.port,
        line.bytes,
        line.requestBytes,
        milliseconds(line.requestTime),
        upstreamMs(line.upstreamTime) ?? NULL,
        line.address,
        country,
        text(province, 64),
        text(isp, 128),
        text(line.host, 256),
        text(line.method, 32),
        text(line.scheme, 8),
        text(line.httpVersion, 16),
        text(line.uri, 2048),
        text(line.args, 2048),
        text(line.upstream, 256),
        text(line.cache, 16),
        text(line.userAgent, 512),
        text(line.referer, 1024),
        text(line.cause, 32),
        text(line.rule, 128),
        text(line.trail, 2048),
        samplingOf(line),
        // A part of a JSON is none.
        line.waf.length > MAX_WAF_LENGTH ? '' : text(line.waf, MAX_WAF_LENGTH),
      ].join('\t');
    });
}

/** By the id, which is random: a batch that is stored again has the same rows. 0 stores none. */
const isSampled = ({ id }: Line, sampling: number) =>
  sampling === 1 || (sampling > 1 && Number.parseInt(id.slice(0, 8), 16) % sampling === 0);

/** `rows`: in COPY's text format. */
export async function copyRows(
  client: PoolClient,
  table: 'access_log' | 'l4_log',
  names: readonly string[],
  rows: readonly string[],
): Promise<void> {
  const copy = client.query(copyFrom(`COPY ${table} (${names.join(', ')}) FROM STDIN`));
  await pipeline(Readable.from(chunksOf(rows)), copy);
}

function* chunksOf(rows: readonly string[]): Generator<string> {
  for (let start = 0; start < rows.length; start += ROWS_OF_CHUNK)
    yield `${rows.slice(start, start + ROWS_OF_CHUNK).join('\n')}\n`;
}

/** A WebSocket may stay open longer than the 24 days that the column holds. */
export const milliseconds = (seconds: number) => Math.min(Math.round(seconds * 1000), 2 ** 31 - 1);

/** The sum over the origins that were tried. */
function upstreamMs(times: string): number | null {
  const seconds = times.match(/\d+\.\d+/g);
  return seconds === null ? null : milliseconds(seconds.reduce((sum, each) => sum + Number(each), 0));
}
