// Questions to name servers about names of customers. An answer, also that there is no such name, is told apart from
// nobody answering, so that an outage of a name server changes nothing.
import { Resolver } from 'node:dns/promises';
import type { Env } from '../env.ts';

const MOST_LINKS = 8;
const AT_ONCE = 32;
/** What c-ares says when there was an answer and it was no. */
const none = new Set(['ENODATA', 'ENOTFOUND']);

export interface Pointing {
  /** `unknown`: no name server could say. */
  state: 'active' | 'inactive' | 'unknown';
  /** Where the name leads: the end of its chain of aliases, else its first address. */
  found: string | null;
}

export const nobody: Pointing = { state: 'unknown', found: null };

export type NameResolver = ReturnType<typeof openResolver>;

/** Whether names lead to the target they belong to; each target's addresses are asked for once. */
export function openResolver({ DNS_RESOLVERS }: Pick<Env, 'DNS_RESOLVERS'>) {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  if (DNS_RESOLVERS.length > 0) resolver.setServers(DNS_RESOLVERS);
  let isStopped = false;

  const addressesOf = async (name: string) =>
    (await Promise.all([listed(resolver.resolve4(name)), listed(resolver.resolve6(name))])).flat();

  async function pointing(
    name: string,
    targets: readonly string[],
    ofTarget: () => Promise<string[]>,
  ): Promise<Pointing> {
    // A wildcard is asked for by a name that nothing but the wildcard answers.
    const asked = name.startsWith('*.') ? `edgeloom-check${name.slice(1)}` : name;
    let at = asked;
    for (let i = 0; i < MOST_LINKS; i += 1) {
      const [next] = await listed(resolver.resolveCname(at));
      if (next === undefined) break;
      at = next.toLowerCase();
      if (targets.includes(at)) return { state: 'active', found: at };
    }
    // The apex of a zone has no alias: what counts there is that it has our addresses and no others.
    const [own, ours] = await Promise.all([addressesOf(at), ofTarget()]);
    const isOurs = own.length > 0 && own.every((address) => ours.includes(address));
    return { state: isOurs ? 'active' : 'inactive', found: at === asked || isOurs ? (own[0] ?? null) : at };
  }

  return {
    /** Questions under way and those after them are nobody's to answer: a process ends although name servers are silent. */
    stop() {
      isStopped = true;
      resolver.cancel();
    },
    /** Any of the targets will do. They lead to the same addresses, so those of the first are looked at. */
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
          outcomes[i] = isStopped ? nobody : await pointing(name, targets, ofTarget(first)).catch(() => nobody);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      return outcomes;
    },
  };
}

/** An answer of no is nothing; no answer is an error. */
export async function listed<T>(answer: Promise<T[]>): Promise<T[]> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && 'code' in error && none.has(String(error.code))) return [];
    throw error;
  }
}
