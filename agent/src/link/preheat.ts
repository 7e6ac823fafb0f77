// Fetches URLs through this node's own nginx, so that they are cached before the first visitor asks.
// Requests are signed with the zone's key, so that protection lets them pass (agent/lua/edge/core/preheat.lua).
import { createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { Warmed } from '@edgeloom/contract/edge/messages.ts';
import { concurrentMap } from '../concurrent-map.ts';
import { reason } from '../log.ts';

const PREHEAT_CONCURRENCY = 4;
/** Concurrency for keeping URLs cached. Low, because it is never urgent. */
const WARM_CONCURRENCY = 2;

/** Where this machine reaches its own nginx. */
export interface OwnNginx {
  address: string;
  /** Ports on which connections begin with a PROXY header. */
  proxyProtocolPorts: readonly number[];
}

/** Returns how many URLs were fetched, and the error of the others. Never throws. */
export async function preheat(
  nginx: OwnNginx,
  urls: readonly string[],
  withinMs: number,
  zoneKey: Buffer,
): Promise<{ fetched: number; error: string | null }> {
  const signal = AbortSignal.timeout(withinMs);
  const faults: string[] = [];
  await concurrentMap(urls, PREHEAT_CONCURRENCY, async (url) => {
    const { fault } = await fetchUrl(nginx, 'GET', new URL(url), signal, zoneKey).catch(errorOf);
    if (fault !== null) faults.push(`${url}: ${fault}`);
  });
  const [first] = faults;
  const error = first === undefined ? null : faults.length === 1 ? first : `${first} (and ${faults.length - 1} more)`;
  return { fetched: urls.length - faults.length, error };
}

/** Returns for each URL, in order, whether it is cached. Never throws. Cached URLs cost the origin nothing. */
export async function keepCached(
  nginx: OwnNginx,
  urls: readonly string[],
  withinMs: number,
  zoneKey: Buffer,
): Promise<Warmed[]> {
  const signal = AbortSignal.timeout(withinMs);
  const results = new Map<string, Warmed>();
  await concurrentMap(urls, WARM_CONCURRENCY, async (url) => {
    const fetchOnce = (method: string) => fetchUrl(nginx, method, new URL(url), signal, zoneKey);
    results.set(
      url,
      await warmOne(fetchOnce).catch((error: unknown) => ({
        state: 'failed',
        fault: errorOf(error).fault.slice(0, 500),
        freshSeconds: null,
      })),
    );
  });
  return urls.flatMap((url) => results.get(url) ?? []);
}

async function warmOne(fetchOnce: (method: string) => Promise<FetchResult>): Promise<Warmed> {
  const before = await fetchOnce('HEAD');
  if (before.fault === null && before.freshSeconds !== null && before.freshSeconds > 0)
    return stored(before.freshSeconds);
  const { fault } = await fetchOnce('GET');
  if (fault !== null) return { state: 'failed', fault, freshSeconds: null };
  // A second request shows whether the response was stored.
  const { freshSeconds } = await fetchOnce('HEAD');
  return freshSeconds === null ? { state: 'notStored', fault: null, freshSeconds } : stored(freshSeconds);
}

const stored = (freshSeconds: number): Warmed => ({ state: 'stored', fault: null, freshSeconds });
const errorOf = (error: unknown) => ({ fault: reason(error) });

/** A proof for one request, valid for a minute. */
export function proofOf(zoneKey: Buffer, host: string, target: string, now = Date.now()): string {
  const timestamp = Math.floor(now / 1000);
  const text = `edgeloom preheat\n${timestamp}\n${host}\n${target}`;
  return `${timestamp}.${createHmac('sha256', zoneKey).update(text).digest('hex')}`;
}

interface FetchResult {
  /** Null: the URL was fetched. */
  fault: string | null;
  /** Remaining freshness of a response from this node's cache. Null: it came from elsewhere. */
  freshSeconds: number | null;
}

function fetchUrl(
  { address, proxyProtocolPorts }: OwnNginx,
  method: string,
  url: URL,
  signal: AbortSignal,
  zoneKey: Buffer,
): Promise<FetchResult> {
  const secure = url.protocol === 'https:';
  const target = url.pathname + url.search;
  const port = Number(url.port) || (secure ? 443 : 80);
  // This machine responds itself, with whatever certificate the domain has.
  const tls = { servername: url.hostname, rejectUnauthorized: false };
  const options = {
    host: address,
    port,
    method,
    path: target,
    headers: {
      host: url.host,
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': 'Edgeloom-Preheat',
      'x-e-preheat': proofOf(zoneKey, url.host, target),
    },
    signal,
    ...(proxyProtocolPorts.includes(port)
      ? { createConnection: () => connectProxied(address, port, secure ? tls : null) }
      : { agent: false as const }),
  };
  return new Promise((resolve, reject) => {
    const call = secure ? httpsRequest({ ...options, ...tls }) : httpRequest(options);
    call.on('error', reject);
    call.on('response', (response) => {
      response.resume();
      response.on('error', reject);
      response.on('end', () => {
        const status = response.statusCode ?? 0;
        resolve({
          fault: status < 400 ? null : String(status),
          freshSeconds: freshIn(response.headers['cache-status']),
        });
      });
    });
    call.end();
  });
}

/** Like a proxy that does not name the visitor, for example in its health checks. */
function connectProxied(
  host: string,
  port: number,
  tls: { servername: string; rejectUnauthorized: boolean } | null,
): Duplex {
  const socket = connect(port, host);
  socket.write('PROXY UNKNOWN\r\n');
  if (tls === null) return socket;
  const secure = connectTls({ ...tls, socket });
  socket.on('error', (error) => secure.destroy(error));
  return secure;
}

/** Our own entry is the last one, after those of relay and origin (RFC 9211). */
function freshIn(cacheStatus: string | string[] | undefined): number | null {
  const own = /(?:^|,\s*)Edgeloom; hit; ttl=(-?\d+)[^,]*$/.exec([cacheStatus ?? ''].flat().join(', '));
  return own?.[1] === undefined ? null : Number(own[1]);
}
