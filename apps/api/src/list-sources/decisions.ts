// Reads decisions of CrowdSec: the response of its Local API (LAPI) to GET /v1/decisions/stream?startup=true, which has
// all decisions in force.
import type { ListSourceError } from '@edgeloom/contract/list-sources/list-sources.ts';
import * as z from 'zod';
import { EntryCollector, type ParsedList } from './entries.ts';

const Stream = z.object({ new: z.array(z.unknown()).nullable() });
const Ban = z.object({
  type: z.literal('ban'),
  scope: z.string().regex(/^(?:ip|range)$/i),
  value: z.string().max(100),
  duration: z.string().max(64),
  simulated: z.literal(false).optional(),
});
const UNIT_MS = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 1e-3, µs: 1e-3, μs: 1e-3, ns: 1e-6 };
/** Nodes have no room for later ends. */
const LONGEST_MS = 10 * 365 * 86_400_000;

/** Durations began at `receivedAt`. Other decisions than bans of addresses and networks are counted as rejected. */
export function parseDecisions(text: string, maxEntries: number, receivedAt: number): ParsedList | ListSourceError {
  const stream = Stream.safeParse(jsonIn(text));
  if (!stream.success) return 'unreadable';
  const found = new EntryCollector(maxEntries);
  for (const decision of stream.data.new ?? []) {
    const ban = Ban.safeParse(decision).data;
    const duration = ban ? durationMs(ban.duration) : null;
    // LAPI can list a decision that has just ended.
    if (duration !== null && duration <= 0) continue;
    if (!ban || duration === null) found.add(null);
    else found.add(ban.value.toLowerCase(), duration > LONGEST_MS ? Infinity : receivedAt + duration);
    const error = found.error();
    if (error) return error;
  }
  // Without entries it is a list, too: all bans have ended.
  return found.finish();
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** As Go writes durations: 3h59m1.5s. Null: it is none. */
export function durationMs(text: string): number | null {
  const [, sign, rest = ''] = /^(-?)((?:\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|μs|ns))+|0)$/.exec(text) ?? [];
  if (sign === undefined) return null;
  let sum = 0;
  for (const [, amount, unit = ''] of rest.matchAll(/([\d.]+)(h|ms|m|s|us|µs|μs|ns)/g))
    sum += Number(amount) * (isUnit(unit) ? UNIT_MS[unit] : 0);
  return sign === '-' ? -sum : sum;
}
const isUnit = (unit: string): unit is keyof typeof UNIT_MS => unit in UNIT_MS;
