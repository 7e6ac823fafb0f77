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
export async function check(look: OriginCheck, { resolve, authorities, pairOf }: CheckDeps): Promise<CheckResult> {
  const started = performance.now();
  const signal = AbortSignal.timeout(look.timeoutSeconds * 1000);
  const finding = (reason: string | null): CheckResult => ({ reason, tookMs: Math.round(performance.now() - started) });
  let reason = 'it has no address';
  try {
    const pair = look.tls?.certID === undefined ? {} : await pairOf(look.tls.certID);
    for (const address of await resolve(look.address)) {
      reason = (await ask(look, address, { ...pair, ca: authorities ?? [] }, signal)) ?? '';
      if (reason === '') return finding(null);
    }
  } catch (error) {
    reason = inWords(error);
  }
  return finding(signal.aborted ? `no answer within ${look.timeoutSeconds} s` : reason);
}

type Trust = Partial<Pair> & { ca: string | string[] };

function ask(look: OriginCheck, address: string, { ca, ...pair }: Trust, signal: AbortSignal): Promise<string | null> {
  const { tls, statusFrom, statusTo } = look;
  const options: RequestOptions = {
    host: address,
    port: look.port,
    path: look.path,
    headers: { host: look.host, 'user-agent': USER_AGENT, accept: '*/*' },
    agent: false,
    signal,
  };
  return new Promise((resolve) => {
    const answered = (answer: IncomingMessage) => {
      const status = answer.statusCode ?? 0;
      // The rest of the body is not needed.
      answer.destroy();
      resolve(status >= statusFrom && status <= statusTo ? null : `it answered ${status}`);
    };
    const call =
      tls === null
        ? httpRequest(options, answered)
        : httpsRequest(
            {
              ...options,
              servername: tls.name,
              rejectUnauthorized: tls.verify,
              ...(tls.verify && { ca }),
              ...pair,
            },
            answered,
          );
    call.on('error', (error) => resolve(inWords(error)));
    call.end();
  });
}

const inWords = (error: unknown) => (error instanceof Error ? error.message : String(error)).slice(0, 300);
