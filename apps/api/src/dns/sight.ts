// Looks a name up at its zone's authoritative servers. An account at a provider proves nothing about the ownership of a
// zone: a self-run provider accepts everything.
import { Resolver } from 'node:dns/promises';
import { originFault } from '../core/outbound.ts';
import { listed } from '../core/resolver.ts';
import type { Env } from '../core/env.ts';

type Settings = Pick<Env, 'DNS_RESOLVERS' | 'ORIGIN_ALLOW' | 'ORIGIN_DENY'>;

/** Labels searched from the end of a name. Zones below are not found. */
const MOST_LABELS = 16;
/** The root zone has this many name servers. */
const MOST_SERVERS = 13;
/** Per name server. */
const MOST_ADDRESSES = 2;
const PATIENCE = { timeout: 1500, tries: 2 };

export interface Sight {
  isShown: boolean;
  /** A summary of each server's response. */
  message: string;
  /** TXT records of all servers. Null when none responded. */
  texts: string[] | null;
}
interface Server {
  name: string;
  address: string;
}
type Answer = { texts: string[] } | { fault: string };

interface SightOptions {
  /** Treats an alias of the record as no record: its target may belong to someone else on the same server. */
  refusesAliases?: boolean;
}

/** Caches the zones it finds. */
export function openSight(settings: Settings, { refusesAliases = false }: SightOptions = {}) {
  const textsAt = refusesAliases ? textsWithoutAlias : textsOf;
  const resolver = new Resolver(PATIENCE);
  if (settings.DNS_RESOLVERS.length > 0) resolver.setServers(settings.DNS_RESOLVERS);
  const delegations = new Map<string, Promise<Server[]>>();

  const serversOf = (name: string) => {
    // A failed lookup is repeated, since a resolver may have been down.
    const known =
      delegations.get(name) ??
      delegated(resolver, name, settings).catch(() => {
        delegations.delete(name);
        return [];
      });
    delegations.set(name, known);
    return known;
  };

  /**
   * Whether each responding name server has these TXT values. When none can be reached, for example behind a firewall,
   * the installation's resolver decides.
   */
  return async (name: string, values: readonly string[]): Promise<Sight> => {
    const servers = await serversOf(name);
    const responses = await Promise.all(
      servers.map(async ({ name: server, address }) => ({
        who: `${server} (${address})`,
        answer: await textsAt(resolverAt(address), name),
      })),
    );
    if (!responses.some(({ answer }) => 'texts' in answer)) {
      responses.push({ who: 'the resolver', answer: await textsAt(resolver, name) });
    }
    const isMissing = (answer: Answer) => 'texts' in answer && values.some((value) => !answer.texts.includes(value));
    const texts = responses.flatMap(({ answer }) => ('texts' in answer ? [answer.texts] : []));
    return {
      texts: texts.length > 0 ? [...new Set(texts.flat())] : null,
      isShown: responses.some(({ answer }) => 'texts' in answer) && !responses.some(({ answer }) => isMissing(answer)),
      message: `${name}: ${responses.map(({ who, answer }) => `${who} ${wordsOf(answer, isMissing(answer))}`).join(', ')}`,
    };
  };
}

/** Walks up from the name to its zone. An alias is no zone apex, since it may lead to someone else's zone. */
async function delegated(resolver: Resolver, name: string, settings: Settings): Promise<Server[]> {
  const labels = name.split('.').slice(-MOST_LABELS);
  for (let i = 0; i < labels.length; i += 1) {
    const zone = labels.slice(i).join('.');
    const [aliases, names] = await Promise.all([listed(resolver.resolveCname(zone)), listed(resolver.resolveNs(zone))]);
    if (aliases.length > 0 || names.length === 0) continue;
    const found = await Promise.all(names.slice(0, MOST_SERVERS).map((server) => addressesOf(resolver, server)));
    return found.flat().filter(({ address }) => originFault(address, settings) === null);
  }
  return [];
}

async function addressesOf(resolver: Resolver, name: string): Promise<Server[]> {
  const four = await listed(resolver.resolve4(name)).catch(() => []);
  const found = four.length > 0 ? four : await listed(resolver.resolve6(name)).catch(() => []);
  return found.slice(0, MOST_ADDRESSES).map((address) => ({ name: name.toLowerCase(), address }));
}

function resolverAt(address: string): Resolver {
  const resolver = new Resolver(PATIENCE);
  resolver.setServers([address]);
  return resolver;
}

async function textsWithoutAlias(resolver: Resolver, name: string): Promise<Answer> {
  const answer = await textsOf(resolver, name);
  if (!('texts' in answer) || answer.texts.length === 0) return answer;
  // A server that does not respond for aliases proves nothing.
  const aliases = await listed(resolver.resolveCname(name)).catch(() => [name]);
  return aliases.length > 0 ? { texts: [] } : answer;
}

const textsOf = (resolver: Resolver, name: string): Promise<Answer> =>
  listed(resolver.resolveTxt(name)).then(
    (records) => ({ texts: records.map((parts) => parts.join('')) }),
    (error: unknown) => ({
      fault: error instanceof Error && 'code' in error ? String(error.code) : String(error),
    }),
  );

function wordsOf(answer: Answer, isMissing: boolean): string {
  if ('fault' in answer) return `does not answer (${answer.fault})`;
  if (!isMissing) return 'shows the proof';
  return answer.texts.length === 0 ? 'shows no TXT record' : 'shows other TXT records';
}
