// Whether an origin can be asked, looked at from here while somebody sets up a domain. No scanner: the one place that was
// named, few times a minute, and the answer says only that somebody speaks HTTP there. Nodes look for themselves later.
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Probe, ProbeInput } from '@edgeloom/contract/domains/domains.ts';
import type { Ctx } from '../../core/ctx.ts';
import { failAt } from '../../core/fail.ts';
import { guardedLookup } from '../../core/outbound-fetch.ts';
import { originFault } from '../../core/outbound.ts';
import type { Env } from '../../env.ts';
import * as sites from '../sites/sites.service.ts';

const PATIENCE_MS = 3000;

export async function probe({ db, installation: { env } }: Ctx, siteId: string, place: ProbeInput): Promise<Probe> {
  await sites.own(db, siteId);
  const fault = originFault(place.address, env);
  if (fault !== null) failAt('address', 'forbidden', fault);
  // TLS first: a server that wants it answers a plain request as well, with an error that looks like an answer.
  for (const scheme of ['https', 'http'] as const) {
    const { status, isConnected } = await ask(scheme, place, env);
    if (status !== null) return { reachable: true, scheme, status };
    if (!isConnected) break;
  }
  return { reachable: false, scheme: null, status: null };
}

interface Outcome {
  status: number | null;
  isConnected: boolean;
}

const ask = (scheme: 'http' | 'https', { address, port, host }: ProbeInput, env: Env): Promise<Outcome> =>
  new Promise((done) => {
    const name = host ?? address;
    const servername = name.replace(/:\d+$/, '');
    const outcome: Outcome = { status: null, isConnected: false };
    const asked = (scheme === 'https' ? tlsRequest : plainRequest)({
      host: address,
      port,
      path: '/',
      headers: { host: name.includes(':') && isIP(name) ? `[${name}]` : name, 'user-agent': 'Edgeloom-Probe' },
      // What visitors are to get may be asked without TLS; where a name leads is judged as ever.
      lookup: guardedLookup(true, env),
      servername: isIP(servername) ? '' : servername,
      rejectUnauthorized: false,
      agent: false,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    asked.on('socket', (socket) => socket.once('connect', () => (outcome.isConnected = true)));
    asked.on('response', (answer) => {
      outcome.status = answer.statusCode ?? null;
      answer.destroy();
    });
    // Whatever went wrong, nobody answered.
    asked.on('error', () => done(outcome));
    asked.on('close', () => done(outcome));
    asked.end();
  });
