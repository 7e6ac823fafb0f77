// Checks whether an origin responds while a domain is being set up. Not a port scanner: it probes one given address, a
// few times a minute, and reports only whether HTTP responds. Nodes run their own health checks later.
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Probe, ProbeInput } from '@edgeloom/contract/domains/domains.ts';
import type { Ctx } from '../../core/ctx.ts';
import { failAt } from '../../core/fail.ts';
import { guardedLookup } from '../../core/outbound-fetch.ts';
import { originSettingsOf } from '../../core/origin-settings.ts';
import { originFault, type OriginSettings } from '../../core/outbound.ts';
import * as sites from '../sites/sites.service.ts';

const PATIENCE_MS = 3000;

export async function probe(ctx: Ctx, siteId: string, place: ProbeInput): Promise<Probe> {
  await sites.own(ctx.db, siteId);
  const allowed = await originSettingsOf(ctx);
  const fault = originFault(place.address, allowed);
  if (fault !== null) failAt('address', 'forbidden', fault);
  // TLS first: a TLS server responds to a plain request with an error that looks like a valid response.
  for (const scheme of ['https', 'http'] as const) {
    const { status, isConnected } = await ask(scheme, place, allowed);
    if (status !== null) return { reachable: true, scheme, status };
    if (!isConnected) break;
  }
  return { reachable: false, scheme: null, status: null };
}

interface Outcome {
  status: number | null;
  isConnected: boolean;
}

const ask = (
  scheme: 'http' | 'https',
  { address, port, host }: ProbeInput,
  allowed: OriginSettings,
): Promise<Outcome> =>
  new Promise((done) => {
    const name = host ?? address;
    const servername = name.replace(/:\d+$/, '');
    const outcome: Outcome = { status: null, isConnected: false };
    const asked = (scheme === 'https' ? tlsRequest : plainRequest)({
      host: address,
      port,
      path: '/',
      headers: { host: name.includes(':') && isIP(name) ? `[${name}]` : name, 'user-agent': 'Edgeloom-Probe' },
      // Public content may be fetched without TLS; the target address is still checked.
      lookup: guardedLookup(true, allowed),
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
    // Every error counts as no response.
    asked.on('error', () => done(outcome));
    asked.on('close', () => done(outcome));
    asked.end();
  });
