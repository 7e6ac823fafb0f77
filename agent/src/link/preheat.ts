// Fetches URLs through this node's own nginx, as a visitor would, so that they are stored when the first visitor comes.
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

const AT_ONCE = 4;

/** Answers how many came, and throws nothing: what did not come is said. */
export async function preheat(
  address: string,
  urls: readonly string[],
  withinMs: number,
): Promise<{ fetched: number; error: string | null }> {
  const signal = AbortSignal.timeout(withinMs);
  const left = [...urls];
  const faults: string[] = [];
  const worker = async () => {
    for (let url = left.shift(); url !== undefined; url = left.shift()) {
      const fault = await fetchOne(address, new URL(url), signal).catch((error: unknown) => String(error));
      if (fault !== null) faults.push(`${url}: ${fault}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const [first] = faults;
  const error = first === undefined ? null : faults.length === 1 ? first : `${first} (and ${faults.length - 1} more)`;
  return { fetched: urls.length - faults.length, error };
}

function fetchOne(address: string, url: URL, signal: AbortSignal): Promise<string | null> {
  const secure = url.protocol === 'https:';
  const options = {
    host: address,
    port: Number(url.port) || (secure ? 443 : 80),
    path: url.pathname + url.search,
    headers: { host: url.host, 'accept-encoding': 'gzip, deflate, br', 'user-agent': 'Edgeloom-Preheat' },
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
