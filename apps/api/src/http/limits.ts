// Rate limits in five classes. Sign-ins and calls that send mail or contact an origin are rare and counted in
// PostgreSQL, over all processes; writes and reads are frequent and counted in the memory of each process. Each is
// counted per account and per address; an address may be an office, so its limit is higher.
// Headers: draft-ietf-httpapi-ratelimit-headers.
import type { FastifyReply } from 'fastify';
import {
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible';
import { onlyReads, type Endpoint } from '@edgeloom/contract/endpoint.ts';
import { withoutAudit } from '../core/request-context.ts';
import { fail } from '../core/fail.ts';
import type { Installation } from '../core/installation.ts';
import type { Rate } from '../core/env.ts';
import { networkOf } from '../core/address.ts';

export interface Limits {
  /** Before the caller is authenticated. */
  ofAddress: (reply: FastifyReply, address: string) => Promise<void>;
  ofAccount: (reply: FastifyReply, accountId: string) => Promise<void>;
}

type Class = 'signIn' | 'mail' | 'probe' | 'write' | 'read';

export const classOf = (endpoint: Endpoint): Class => {
  if (endpoint.limit) return endpoint.limit;
  if (onlyReads(endpoint)) return 'read';
  // A writing call without a session opens one or tries to.
  return endpoint.can === 'anyone' ? 'signIn' : 'write';
};

interface Counter {
  name: 'address' | 'account';
  policy: string;
  limiter: RateLimiterAbstract;
}

/** Both listeners of a process share these counters. */
export function openLimits({ env, pool }: Pick<Installation, 'env' | 'pool'>): (endpoint: Endpoint) => Limits {
  const counter = (name: Counter['name'], kind: Class, { calls, seconds }: Rate): Counter => {
    const options = { keyPrefix: `${kind} ${name}`, points: calls, duration: seconds };
    const isShared = kind !== 'write' && kind !== 'read';
    return {
      name,
      policy: `"${name}";q=${calls};w=${seconds}`,
      limiter: isShared
        ? new RateLimiterPostgres({
            ...options,
            storeClient: pool,
            storeType: 'pool',
            tableName: 'rate_counts',
            tableCreated: true,
            // A client that continues after a 429 stays limited until the interval ends.
            inMemoryBlockOnConsumed: calls + 1,
          })
        : new RateLimiterMemory(options),
    };
  };
  const many = ({ calls, seconds }: Rate): Rate => ({ calls: calls * env.RATE_ADDRESS_FACTOR, seconds });
  const counters: Record<Class, { address: Counter; account: Counter | null }> = {
    signIn: { address: counter('address', 'signIn', env.RATE_SIGN_IN), account: null },
    mail: { address: counter('address', 'mail', env.RATE_MAIL), account: counter('account', 'mail', env.RATE_MAIL) },
    probe: {
      address: counter('address', 'probe', env.RATE_PROBE),
      account: counter('account', 'probe', env.RATE_PROBE),
    },
    write: {
      address: counter('address', 'write', many(env.RATE_WRITE)),
      account: counter('account', 'write', env.RATE_WRITE),
    },
    read: {
      address: counter('address', 'read', many(env.RATE_READ)),
      account: counter('account', 'read', env.RATE_READ),
    },
  };

  return (endpoint) => {
    const { address, account } = counters[classOf(endpoint)];
    return {
      ofAddress: (reply, of) => count(reply, address, networkOf(of)),
      ofAccount: async (reply, of) => {
        if (account) await count(reply, account, of);
      },
    };
  };
}

async function count(reply: FastifyReply, { name, policy, limiter }: Counter, key: string): Promise<void> {
  let isRefused = false;
  const result = await withoutAudit(() => limiter.consume(key)).catch((refused: unknown) => {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    isRefused = true;
    return refused;
  });
  const seconds = Math.max(1, Math.ceil(result.msBeforeNext / 1000));
  const state = `"${name}";r=${result.remainingPoints};t=${seconds}`;
  const [policies, states] = [reply.getHeader('ratelimit-policy'), reply.getHeader('ratelimit')];
  reply.header('ratelimit-policy', policies === undefined ? policy : `${String(policies)}, ${policy}`);
  reply.header('ratelimit', states === undefined ? state : `${String(states)}, ${state}`);
  if (isRefused) fail('RATE_LIMITED', { extra: { retryAfterSeconds: seconds } });
}
