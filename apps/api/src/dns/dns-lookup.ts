// Looks a name up at its zone's authoritative servers. An account at a provider proves nothing about the ownership of a
// zone: a self-run provider accepts everything.
import { Resolver } from 'node:dns/promises';
import { originFault } from '../core/outbound.ts';
import { emptyIfNone } from '../core/resolver.ts';
import type { Env } from '../core/env.ts';

type Settings = Pick<Env, 'DNS_RESOLVERS' | 'ORIGIN_ALLOW' | 'ORIGIN_DENY'>;

/** Labels searched from the end of a name. Zones below are not found. */
const MAX_LABELS = 16;
/** The root zone has this many name servers. */
const MAX_SERVERS = 13;
/** Per name server. */
const MAX_ADDRESSES = 2;
const RESOLVER_OPTIONS = { timeout: 1500, tries: 2 };

export interface LookupResult {
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
type Response = { texts: string[] } | { fault: string };

interface LookupOptions {
  /** Treats an alias of the record as no record: its target may belong to someone else on the same server. */
  refusesAliases?: boolean;
}

/** Caches the zones it finds. */
export function openDnsLookup(settings: Settings, { refusesAliases = false }: LookupOptions = {}) {
  const textsAt = refusesAliases ? textsWithoutAlias : textsOf;
  const resolver = new Resolver(RESOLVER_OPTIONS);
  if (settings.DNS_RESOLVERS.length > 0) resolver.setServers(settings.DNS_RESOLVERS);
  const delegations = new Map<string, Promise<Server[]>>();

  const serversOf = (name: string) => {
    // A failed lookup is repeated, since a resolver may have been down.
    const known =
      delegations.get(name) ??
      findNameServers(resolver, name, settings).catch(() => {
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
  return async (name: string, values: readonly string[]): Promise<LookupResult> => {
    const servers = await serversOf(name);
    const responses = await Promise.all(
      servers.map(async ({ name: server, address }) => ({
        server: `${server} (${address})`,
        response: await textsAt(resolverAt(address), name),
      })),
    );
    if (!responses.some(({ response }) => 'texts' in response)) {
      responses.push({ server: 'the resolver', response: await textsAt(resolver, name) });
    }
    const isMissing = (response: Response) =>
      'texts' in response && values.some((value) => !response.texts.includes(value));
    const texts = responses.flatMap(({ response }) => ('texts' in response ? [response.texts] : []));
    return {
      texts: texts.length > 0 ? [...new Set(texts.flat())] : null,
      isShown:
        responses.some(({ response }) => 'texts' in response) && !responses.some(({ response }) => isMissing(response)),
      message: `${name}: ${responses.map(({ server, response }) => `${server} ${describe(response, isMissing(response))}`).join(', ')}`,
    };
  };
}

/** Walks up from the name to its zone. An alias is no zone apex, since it may lead to someone else's zone. */
async function findNameServers(resolver: Resolver, name: string, settings: Settings): Promise<Server[]> {
  const labels = name.split('.').slice(-MAX_LABELS);
  for (let i = 0; i < labels.length; i += 1) {
    const zone = labels.slice(i).join('.');
    const [aliases, names] = await Promise.all([
      emptyIfNone(resolver.resolveCname(zone)),
      emptyIfNone(resolver.resolveNs(zone)),
    ]);
    if (aliases.length > 0 || names.length === 0) continue;
    const found = await Promise.all(names.slice(0, MAX_SERVERS).map((server) => addressesOf(resolver, server)));
    return found.flat().filter(({ address }) => originFault(address, settings) === null);
  }
  return [];
}

async function addressesOf(resolver: Resolver, name: string): Promise<Server[]> {
  const four = await emptyIfNone(resolver.resolve4(name)).catch(() => []);
  const found = four.length > 0 ? four : await emptyIfNone(resolver.resolve6(name)).catch(() => []);
  return found.slice(0, MAX_ADDRESSES).map((address) => ({ name: name.toLowerCase(), address }));
}

function resolverAt(address: string): Resolver {
  const resolver = new Resolver(RESOLVER_OPTIONS);
  resolver.setServers([address]);
  return resolver;
}

async function textsWithoutAlias(resolver: Resolver, name: string): Promise<Response> {
  const response = await textsOf(resolver, name);
  if (!('texts' in response) || response.texts.length === 0) return response;
  // A server that does not respond for aliases proves nothing.
  const aliases = await emptyIfNone(resolver.resolveCname(name)).catch(() => [name]);
  return aliases.length > 0 ? { texts: [] } : response;
}

const textsOf = (resolver: Resolver, name: string): Promise<Response> =>
  emptyIfNone(resolver.resolveTxt(name)).then(
    (records) => ({ texts: records.map((parts) => parts.join('')) }),
    (error: unknown) => ({
      fault: error instanceof Error && 'code' in error ? String(error.code) : String(error),
    }),
  );

function describe(response: Response, isMissing: boolean): string {
  if ('fault' in response) return `does not answer (${response.fault})`;
  if (!isMissing) return 'shows the proof';
  return response.texts.length === 0 ? 'shows no TXT record' : 'shows other TXT records';
}
