// DNS lookups of customers' names. A negative response differs from no response, so an outage of a name server changes
// nothing.
import { Resolver } from 'node:dns/promises';
import type { Env } from './env.ts';

const MOST_LINKS = 8;
const AT_ONCE = 32;
/** c-ares' codes for a negative response. */
const none = new Set(['ENODATA', 'ENOTFOUND']);

export interface Pointing {
  /** `unknown`: no name server responded. */
  state: 'active' | 'inactive' | 'unknown';
  /** The end of the CNAME chain, or the first address. */
  found: string | null;
}

export const UNKNOWN_POINTING: Pointing = { state: 'unknown', found: null };

export type NameResolver = ReturnType<typeof openResolver>;

/** Whether names point to their targets. Each target's addresses are looked up once. */
export function openResolver({ DNS_RESOLVERS }: Pick<Env, 'DNS_RESOLVERS'>) {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  if (DNS_RESOLVERS.length > 0) resolver.setServers(DNS_RESOLVERS);
  let isStopped = false;

  const addressesOf = async (name: string) =>
    (await Promise.all([emptyIfNone(resolver.resolve4(name)), emptyIfNone(resolver.resolve6(name))])).flat();

  async function pointing(
    name: string,
    targets: readonly string[],
    ofTarget: () => Promise<string[]>,
  ): Promise<Pointing> {
    // A wildcard is checked by a name that only the wildcard matches.
    const asked = name.startsWith('*.') ? `edgeloom-check${name.slice(1)}` : name;
    let at = asked;
    for (let i = 0; i < MOST_LINKS; i += 1) {
      const [next] = await emptyIfNone(resolver.resolveCname(at));
      if (next === undefined) break;
      at = next.toLowerCase();
      if (targets.includes(at)) return { state: 'active', found: at };
    }
    // A zone apex has no CNAME: it must have exactly our addresses.
    const [own, ours] = await Promise.all([addressesOf(at), ofTarget()]);
    const isOurs = own.length > 0 && own.every((address) => ours.includes(address));
    return { state: isOurs ? 'active' : 'inactive', found: at === asked || isOurs ? (own[0] ?? null) : at };
  }

  return {
    /** Cancels pending lookups, so that a process can stop while name servers are silent. */
    stop() {
      isStopped = true;
      resolver.cancel();
    },
    /** A name may point to any of its targets. They share their addresses, so the first one's are compared. */
    async check(asked: readonly { name: string; targets: readonly string[] }[]): Promise<Pointing[]> {
      const found = new Map<string, Promise<string[]>>();
      const ofTarget = (target: string) => () => {
        const known = found.get(target) ?? addressesOf(target);
        found.set(target, known);
        return known;
      };
      const outcomes: Pointing[] = [];
      const queue = asked.entries();
      const work = async () => {
        for (const [i, { name, targets }] of queue) {
          const [first = ''] = targets;
          outcomes[i] = isStopped
            ? UNKNOWN_POINTING
            : await pointing(name, targets, ofTarget(first)).catch(() => UNKNOWN_POINTING);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      return outcomes;
    },
  };
}

/** A negative response is an empty list. No response is an error. */
export async function emptyIfNone<T>(answer: Promise<T[]>): Promise<T[]> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && 'code' in error && none.has(String(error.code))) return [];
    throw error;
  }
}
