// One health check of one origin, shaped like a visitor's request.
// It does not pass through nginx, so no log or counter contains it.
import { request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Resolve } from '../origins/addresses.ts';
import type { Pair, PairOf } from './client-pair.ts';

/** A request to an origin. Domains with equal checks share one. */
export interface OriginCheck {
  address: string;
  port: number;
  /** `certID`: the client certificate that we present. */
  tls: { name: string; verify: boolean; certID?: string } | null;
  host: string;
  path: string;
  timeoutSeconds: number;
  statusFrom: number;
  statusTo: number;
}

export interface CheckResult {
  /** Null: the origin is healthy. */
  reason: string | null;
  tookMs: number;
}

const USER_AGENT = 'Edgeloom-Health';

export interface CheckDeps {
  resolve: Resolve;
  authorities: string | null;
  pairOf: PairOf;
}

/** Healthy when one of its addresses is. */
export async function check(
  originCheck: OriginCheck,
  { resolve, authorities, pairOf }: CheckDeps,
): Promise<CheckResult> {
  const started = performance.now();
  const signal = AbortSignal.timeout(originCheck.timeoutSeconds * 1000);
  const finding = (reason: string | null): CheckResult => ({ reason, tookMs: Math.round(performance.now() - started) });
  let reason = 'no address';
  try {
    const pair = originCheck.tls?.certID === undefined ? {} : await pairOf(originCheck.tls.certID);
    for (const address of await resolve(originCheck.address)) {
      reason = (await request(originCheck, address, { ...pair, ca: authorities ?? [] }, signal)) ?? '';
      if (reason === '') return finding(null);
    }
  } catch (error) {
    reason = messageOf(error);
  }
  return finding(signal.aborted ? `no response within ${originCheck.timeoutSeconds} s` : reason);
}

type Trust = Partial<Pair> & { ca: string | string[] };

function request(
  originCheck: OriginCheck,
  address: string,
  { ca, ...pair }: Trust,
  signal: AbortSignal,
): Promise<string | null> {
  const { tls, statusFrom, statusTo } = originCheck;
  const options: RequestOptions = {
    host: address,
    port: originCheck.port,
    path: originCheck.path,
    headers: { host: originCheck.host, 'user-agent': USER_AGENT, accept: '*/*' },
    agent: false,
    signal,
  };
  return new Promise((resolve) => {
    const onResponse = (response: IncomingMessage) => {
      const status = response.statusCode ?? 0;
      // The rest of the body is not needed.
      response.destroy();
      resolve(status >= statusFrom && status <= statusTo ? null : `status ${status}`);
    };
    const call =
      tls === null
        ? httpRequest(options, onResponse)
        : httpsRequest(
            {
              ...options,
              servername: tls.name,
              rejectUnauthorized: tls.verify,
              ...(tls.verify && { ca }),
              ...pair,
            },
            onResponse,
          );
    call.on('error', (error) => resolve(messageOf(error)));
    call.end();
  });
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error)).slice(0, 300);
