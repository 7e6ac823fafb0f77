// Fetches URLs through this node's own nginx, as a visitor would, so that they are stored when the first visitor comes. It
// says who it is, by the zone's key, so that what keeps visitors out lets it pass (agent/lua/edge/core/preheat.lua).
import { createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Warmed } from '@edgeloom/contract/edge/messages.ts';
import { reason } from '../log.ts';

const AT_ONCE = 4;
/** Of what is kept stored: nobody waits for it, and an origin has other things to do. */
const WARM_AT_ONCE = 2;

/** Answers how many came, and throws nothing: what did not come is said. */
export async function preheat(
  address: string,
  urls: readonly string[],
  withinMs: number,
  zoneKey: Buffer,
): Promise<{ fetched: number; error: string | null }> {
  const signal = AbortSignal.timeout(withinMs);
  const faults: string[] = [];
  await inTurns(AT_ONCE, urls, async (url) => {
    const { fault } = await askOne(address, 'GET', new URL(url), signal, zoneKey).catch(broken);
    if (fault !== null) faults.push(`${url}: ${fault}`);
  });
  const [first] = faults;
  const error = first === undefined ? null : faults.length === 1 ? first : `${first} (and ${faults.length - 1} more)`;
  return { fetched: urls.length - faults.length, error };
}

/** Answers of each whether it is stored, in their order, and throws nothing. What is stored costs the origin nothing. */
export async function warm(
  address: string,
  urls: readonly string[],
  withinMs: number,
  zoneKey: Buffer,
): Promise<Warmed[]> {
  const signal = AbortSignal.timeout(withinMs);
  const found = new Map<string, Warmed>();
  await inTurns(WARM_AT_ONCE, urls, async (url) => {
    const ask = (method: string) => askOne(address, method, new URL(url), signal, zoneKey);
    found.set(
      url,
      await warmOne(ask).catch((error: unknown) => ({
        state: 'failed',
        fault: broken(error).fault.slice(0, 500),
        freshSeconds: null,
      })),
    );
  });
  return urls.flatMap((url) => found.get(url) ?? []);
}

async function warmOne(ask: (method: string) => Promise<Asked>): Promise<Warmed> {
  const before = await ask('HEAD');
  if (before.fault === null && before.freshSeconds !== null && before.freshSeconds > 0)
    return stored(before.freshSeconds);
  const { fault } = await ask('GET');
  if (fault !== null) return { state: 'failed', fault, freshSeconds: null };
  // Whether it was kept is known once it is asked for again.
  const { freshSeconds } = await ask('HEAD');
  return freshSeconds === null ? { state: 'notStored', fault: null, freshSeconds } : stored(freshSeconds);
}

const stored = (freshSeconds: number): Warmed => ({ state: 'stored', fault: null, freshSeconds });
const broken = (error: unknown) => ({ fault: reason(error) });

async function inTurns(atOnce: number, urls: readonly string[], task: (url: string) => Promise<void>): Promise<void> {
  const left = [...urls];
  const worker = async () => {
    for (let url = left.shift(); url !== undefined; url = left.shift()) await task(url);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** For one request, and for a minute. */
export function proofOf(zoneKey: Buffer, host: string, target: string, now = Date.now()): string {
  const moment = Math.floor(now / 1000);
  const text = `edgeloom preheat\n${moment}\n${host}\n${target}`;
  return `${moment}.${createHmac('sha256', zoneKey).update(text).digest('hex')}`;
}

interface Asked {
  /** Null: it came. */
  fault: string | null;
  /** Of an answer from this node's own store; null: from elsewhere. */
  freshSeconds: number | null;
}

function askOne(address: string, method: string, url: URL, signal: AbortSignal, zoneKey: Buffer): Promise<Asked> {
  const secure = url.protocol === 'https:';
  const target = url.pathname + url.search;
  const options = {
    host: address,
    port: Number(url.port) || (secure ? 443 : 80),
    method,
    path: target,
    headers: {
      host: url.host,
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': 'Edgeloom-Preheat',
      'x-e-preheat': proofOf(zoneKey, url.host, target),
    },
    agent: false as const,
    signal,
  };
  return new Promise((resolve, reject) => {
    // It is this machine that answers, with whatever certificate the domain has.
    const call = secure
      ? httpsRequest({ ...options, servername: url.hostname, rejectUnauthorized: false })
      : httpRequest(options);
    call.on('error', reject);
    call.on('response', (answer) => {
      answer.resume();
      answer.on('error', reject);
      answer.on('end', () => {
        const status = answer.statusCode ?? 0;
        resolve({ fault: status < 400 ? null : String(status), freshSeconds: freshIn(answer.headers['cache-status']) });
      });
    });
    call.end();
  });
}

/** Our own word is the last: a relay's and an origin's stand before it (RFC 9211). */
function freshIn(said: string | string[] | undefined): number | null {
  const own = /(?:^|,\s*)Edgeloom; hit; ttl=(-?\d+)[^,]*$/.exec([said ?? ''].flat().join(', '));
  return own?.[1] === undefined ? null : Number(own[1]);
}
