// Fetches URLs through this node's own nginx, as a visitor would, so that they are stored when the first visitor comes. It
// says who it is, by the zone's key, so that what keeps visitors out lets it pass (agent/lua/edge/core/preheat.lua).
import { createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

const AT_ONCE = 4;

/** Answers how many came, and throws nothing: what did not come is said. */
export async function preheat(
  address: string,
  urls: readonly string[],
  withinMs: number,
  zoneKey: Buffer,
): Promise<{ fetched: number; error: string | null }> {
  const signal = AbortSignal.timeout(withinMs);
  const left = [...urls];
  const faults: string[] = [];
  const worker = async () => {
    for (let url = left.shift(); url !== undefined; url = left.shift()) {
      const fault = await fetchOne(address, new URL(url), signal, zoneKey).catch((error: unknown) => String(error));
      if (fault !== null) faults.push(`${url}: ${fault}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const [first] = faults;
  const error = first === undefined ? null : faults.length === 1 ? first : `${first} (and ${faults.length - 1} more)`;
  return { fetched: urls.length - faults.length, error };
}

/** For one request, and for a minute. */
export function proofOf(zoneKey: Buffer, host: string, target: string, now = Date.now()): string {
  const moment = Math.floor(now / 1000);
  const text = `edgeloom preheat\n${moment}\n${host}\n${target}`;
  return `${moment}.${createHmac('sha256', zoneKey).update(text).digest('hex')}`;
}

function fetchOne(address: string, url: URL, signal: AbortSignal, zoneKey: Buffer): Promise<string | null> {
  const secure = url.protocol === 'https:';
  const target = url.pathname + url.search;
  const options = {
    host: address,
    port: Number(url.port) || (secure ? 443 : 80),
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
      answer.on('end', () => resolve((answer.statusCode ?? 0) < 400 ? null : String(answer.statusCode)));
    });
    call.end();
  });
}
