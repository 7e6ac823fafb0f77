// What everybody sees of a name, asked of the name servers that its zone is delegated to. An account at a provider says
// nothing about whose a zone is: a provider of one's own says yes to everything.
import { Resolver } from 'node:dns/promises';
import { originFault } from '../core/outbound.ts';
import { listed } from '../core/resolver.ts';
import type { Env } from '../env.ts';

type Settings = Pick<Env, 'DNS_RESOLVERS' | 'ORIGIN_ALLOW' | 'ORIGIN_DENY'>;

/** From the end of a name; whoever has a zone further down is not found. */
const MOST_LABELS = 16;
/** As many as the root has. */
const MOST_SERVERS = 13;
/** Of a name server. */
const MOST_ADDRESSES = 2;
const PATIENCE = { timeout: 1500, tries: 2 };

export interface Sight {
  isShown: boolean;
  /** Who answered what, as a line. */
  said: string;
  /** TXT records of all servers; null where none answered. */
  texts: string[] | null;
}
interface Server {
  name: string;
  address: string;
}
type Answer = { texts: string[] } | { fault: string };

interface SightOptions {
  /** An alias of the record counts as no record: its target may be in a zone of somebody else on the same server. */
  refusesAliases?: boolean;
}

/** Zones are looked up once. */
export function openSight(settings: Settings, { refusesAliases = false }: SightOptions = {}) {
  const textsAt = refusesAliases ? textsWithoutAlias : textsOf;
  const resolver = new Resolver(PATIENCE);
  if (settings.DNS_RESOLVERS.length > 0) resolver.setServers(settings.DNS_RESOLVERS);
  const delegations = new Map<string, Promise<Server[]>>();

  const serversOf = (name: string) => {
    // Asked again where nobody could be found: a resolver may have been away.
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
   * Whether these texts are of the name at each of its name servers that answers. Where none can be asked, as behind a
   * firewall, the installation's own resolver has the word: it goes the same way from the root.
   */
  return async (name: string, values: readonly string[]): Promise<Sight> => {
    const servers = await serversOf(name);
    const heard = await Promise.all(
      servers.map(async ({ name: server, address }) => ({
        who: `${server} (${address})`,
        answer: await textsAt(resolverAt(address), name),
      })),
    );
    if (!heard.some(({ answer }) => 'texts' in answer)) {
      heard.push({ who: 'the resolver', answer: await textsAt(resolver, name) });
    }
    const isMissing = (answer: Answer) => 'texts' in answer && values.some((value) => !answer.texts.includes(value));
    const texts = heard.flatMap(({ answer }) => ('texts' in answer ? [answer.texts] : []));
    return {
      texts: texts.length > 0 ? [...new Set(texts.flat())] : null,
      isShown: heard.some(({ answer }) => 'texts' in answer) && !heard.some(({ answer }) => isMissing(answer)),
      said: `${name}: ${heard.map(({ who, answer }) => `${who} ${wordsOf(answer, isMissing(answer))}`).join(', ')}`,
    };
  };
}

/** Up from the name to where a zone begins. An alias is no beginning: what it leads to may be somebody else's zone. */
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
  // A server that is silent about aliases shows no proof.
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
