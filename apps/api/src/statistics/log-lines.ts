// Lines of access logs as rows: validated, with the time by the control plane's clock.
import { isUtf8 } from 'node:buffer';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { LogLine, MAX_BATCH_BYTES } from '@edgeloom/contract/edge/log-batches.ts';
import type { LogBatch } from '@edgeloom/contract/edge/log-batches.ts';
import type * as z from 'zod';
import type { Geoip, Location } from '../geoip/geoip.ts';

const decompress = promisify(gunzip);

/** No domain was known. */
export const NO_DOMAIN = '00000000-0000-0000-0000-000000000000';
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const REQUEST_ID = /^[0-9a-f]{32}$/;
const FROM_CACHE = new Set(['HIT', 'STALE', 'UPDATING', 'REVALIDATED']);
const NEWLINE = 0x0a;
/** Each part takes a round trip to the thread pool. */
const DECOMPRESSED_AT_ONCE = 128 * 1024;
/** Smaller differences of clocks are the time that a message takes. */
const SKEW_MS = 2000;

export interface Line extends LogLine {
  /** Milliseconds since 1970. */
  at: number;
  location: Location;
  isHit: boolean;
}

export interface ReadLines<Line> {
  lines: Line[];
  /** Lines that failed to parse. */
  failed: string[];
  /**
   * All earlier lines of the node and kind have arrived, in milliseconds since 1970. Workers of nginx write lines up to
   * a second late. Null if the batch does not show it.
   */
  reached: number | null;
}

/** Throws if the lines are not gzip or longer than MAX_BATCH_BYTES. */
export async function readLines(batch: LogBatch, geoip: Pick<Geoip, 'lookup'>, now: number): Promise<ReadLines<Line>> {
  const texts = await textsOf(batch);
  const timeOf = clockOf(batch, now);
  const failed: string[] = [];
  const lines = texts.flatMap((text) => {
    // The edge node in front of a relay logs the same request.
    if (text.includes('"relayed":true')) return [];
    const line = parse(LogLine, text);
    if (line === null || !REQUEST_ID.test(line.id) || !isStorableAddress(line.address)) {
      failed.push(text);
      return [];
    }
    return Object.assign(line, {
      at: timeOf(line.time),
      domain: UUID.test(line.domain) ? line.domain : NO_DOMAIN,
      location: geoip.lookup(line.address),
      isHit: FROM_CACHE.has(line.cache),
    });
  });
  return { lines, failed, reached: reachedBy(batch, texts, now) };
}

const LINE_TIME = /^\{"time":(\d+(?:\.\d+)?),/;

/** By all lines, because relays write none that count, and nodes of other releases perhaps none that can be read. */
export function reachedBy(batch: LogBatch, texts: readonly string[], now: number): number | null {
  if (batch.from === batch.to) return now;
  const timeOf = clockOf(batch, now);
  return texts.reduce<number | null>((newest, text) => {
    const time = LINE_TIME.exec(text)?.[1];
    return time === undefined ? newest : Math.max(newest ?? 0, timeOf(Number(time)));
  }, null);
}

/** Throws if the lines are not gzip or longer than MAX_BATCH_BYTES. */
export async function textsOf(batch: LogBatch): Promise<string[]> {
  const bytes = await decompress(Buffer.from(batch.lines, 'base64'), {
    maxOutputLength: MAX_BATCH_BYTES,
    chunkSize: DECOMPRESSED_AT_ONCE,
  });
  const texts: string[] = [];
  // V8 takes fresh pages for one string of all lines, which costs more than parsing them.
  for (let start = 0, end = 0; start < bytes.length; start = end + 1) {
    const newline = bytes.indexOf(NEWLINE, start);
    end = newline < 0 ? bytes.length : newline;
    if (end > start) texts.push(textOf(bytes.subarray(start, end)));
  }
  return texts;
}

/** Values that are not UTF-8, such as paths in GBK, keep their bytes as escapes: `%C4%E3`. So do damaged lines. */
function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  return bytes.toString('latin1').replace(/"(?:[^"\\]|\\.)*"|[\x80-\xff]/g, (value) => {
    const own = Buffer.from(value, 'latin1');
    if (isUtf8(own)) return own.toString();
    return value.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  });
}

/** Converts seconds of the node's clock to milliseconds of this one. The future is now. */
export function clockOf({ sentAt }: LogBatch, now: number): (seconds: number) => number {
  const skew = now - sentAt;
  const correction = Math.abs(skew) > SKEW_MS ? skew : 0;
  return (seconds) => Math.min(Math.round(seconds * 1000 + correction), now);
}

/** PostgreSQL has no addresses with a zone, such as fe80::1%eth0. */
export const isStorableAddress = (address: string): boolean => isIP(address) !== 0 && !address.includes('%');

export function parse<S extends z.ZodType>(schema: S, text: string): z.output<S> | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

const UNSTORABLE = /[\0\ud800-\udfff]/;

/** Without the characters that PostgreSQL refuses, and limited to so many of those that it counts. */
export function storable(text: string, characters: number): string {
  const short = text.length > characters ? firstCharacters(text, characters) : text;
  return UNSTORABLE.test(short) ? short.replaceAll('\0', '\uFFFD').toWellFormed() : short;
}

function firstCharacters(text: string, count: number): string {
  // Each has one or two UTF-16 units.
  const start = text.slice(0, 2 * count);
  return [...start].slice(0, count).join('');
}
