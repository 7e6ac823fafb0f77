// Selects what log rows can replay: requests, and the rules about which a row has enough. Other rules are left out,
// since without their fields they would match too often or never.
import type { AclDoc } from '@edgeloom/contract/edge/module-doc.ts';
import type { EdgeDoc, HostDoc, SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import type { ReplayedRequest } from '@edgeloom/contract/edge/simulated.ts';
import type { ReplayGap } from '@edgeloom/contract/simulate/replay.ts';
import type { RequestGroup } from '../../access-log/access-log.ts';

export interface Known {
  /** The log has no queries. */
  isQueryMasked: boolean;
  /** IDs of lists that the draft changes, whose documents a simulation cannot replace. */
  changedLists: ReadonlySet<string>;
}

/** The document without rules that cannot be replayed. */
export function replayable(doc: EdgeDoc, known: Known, gaps: Set<ReplayGap>): EdgeDoc {
  if (doc.kind === 'site') return replayableSite(doc, known, gaps);
  if (doc.kind === 'host') return replayableHost(doc, gaps);
  if (doc.kind !== 'module') return doc;
  if (doc.module === 'acl') return replayableAcl(doc, known, gaps);
  if (doc.module === 'waf' && doc.mode !== 'off') {
    gaps.add('headers');
    gaps.add('bodies');
  }
  return doc;
}

function replayableSite(
  { frequencies, limitReqs, limitConns, crawlers, antiCCs, antiHeaders, lists, ...site }: SiteDoc,
  { changedLists }: Known,
  gaps: Set<ReplayGap>,
): SiteDoc {
  if (frequencies || limitReqs || limitConns) gaps.add('limits');
  if (antiCCs) gaps.add('challenges');
  const knownLists = lists?.filter(({ id }) => !changedLists.has(id));
  if (changedLists.size > 0) gaps.add('lists');
  return {
    ...site,
    ...loggedHeaders(antiHeaders, gaps),
    ...knownCrawlers(crawlers, gaps),
    ...(knownLists && knownLists.length > 0 && { lists: knownLists }),
  };
}

/** Nodes verify crawlers on their own. Whether one is an impostor, or exempt from a challenge, is not in the log. */
function knownCrawlers(rules: SiteDoc['crawlers'], gaps: Set<ReplayGap>): Pick<SiteDoc, 'crawlers'> {
  const known = (rules ?? []).filter(({ category, action }) => {
    if (action === 'limit') gaps.add('limits');
    else if (category === 'impostor' || action === 'challenge') gaps.add('bots');
    else return true;
    return false;
  });
  return known.length > 0 ? { crawlers: known } : {};
}

function replayableHost({ antiHeaders, modules, ...host }: HostDoc, gaps: Set<ReplayGap>): HostDoc {
  const { tokenAuth, luaAcl, ...others } = modules ?? {};
  // A token of the last hour may have ended since.
  if (tokenAuth !== undefined) gaps.add('tokens');
  if (luaAcl !== undefined) gaps.add('scripts');
  return { ...host, ...loggedHeaders(antiHeaders, gaps), ...(modules && { modules: others }) };
}

const LOGGED_HEADERS = new Set(['user-agent', 'referer', 'host']);

function loggedHeaders(rules: SiteDoc['antiHeaders'], gaps: Set<ReplayGap>): Pick<SiteDoc, 'antiHeaders'> {
  const logged = (rules ?? []).filter(({ name }) => LOGGED_HEADERS.has(name));
  if (logged.length < (rules ?? []).length) gaps.add('headers');
  return logged.length > 0 ? { antiHeaders: logged } : {};
}

type Condition = AclDoc['rules'][number]['any'][number][number];
const gapOfField: Readonly<Record<string, ReplayGap>> = {
  header: 'headers',
  cookie: 'cookies',
  bodyText: 'bodies',
  contentLength: 'bodies',
  httpVersion: 'connections',
  botState: 'bots',
};
const QUERY_FIELDS = new Set(['args', 'arg', 'uri']);

function gapOf({ field: text, name = '' }: Condition, { isQueryMasked }: Known): ReplayGap | undefined {
  const field = text.replace(/:$/, '');
  if (field === 'header' && LOGGED_HEADERS.has(name)) return undefined;
  return isQueryMasked && QUERY_FIELDS.has(field) ? 'query' : gapOfField[field];
}

function replayableAcl(doc: AclDoc, known: Known, gaps: Set<ReplayGap>): AclDoc {
  const rules: AclDoc['rules'] = [];
  for (const rule of doc.rules) {
    const unknown = rule.any.flat().flatMap((condition) => gapOf(condition, known) ?? []);
    for (const gap of unknown) gaps.add(gap);
    if (unknown.length === 0) rules.push(rule);
    // Whether the rules after it are reached is not known.
    else if (rule.action === 'allow' && !rule.monitor) break;
  }
  return { ...doc, rules };
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** The log cuts longer texts (statistics/access-log.ts). A simulation takes this path at most. */
const LONGEST = { uri: 2048, args: 2048, userAgent: 512, referer: 1024, path: 8192 } as const;
// oxlint-disable-next-line no-control-regex -- a header field cannot contain these
const UNSENDABLE = /[\u0000-\u0008\u000a-\u001f\u007f\ufffd]/;
/** The log has the decoded path. Another form of such a path may be treated differently. */
const AMBIGUOUS = /[%\\]/;

/** The request of a log row. Null: the row does not have all of it. */
export function requestOf(row: RequestGroup): ReplayedRequest | null {
  const { method, scheme, host, port, uri, args, userAgent, referer, address } = row;
  if (!METHODS.has(method) || (scheme !== 'http' && scheme !== 'https')) return null;
  if (uri.length >= LONGEST.uri || args.length >= LONGEST.args) return null;
  if (userAgent.length >= LONGEST.userAgent || referer.length >= LONGEST.referer) return null;
  const texts = [host, uri, args, userAgent, referer];
  if (texts.some((text) => UNSENDABLE.test(text) || !text.isWellFormed())) return null;
  if (AMBIGUOUS.test(uri) || !uri.startsWith('/')) return null;
  const path = uri.split('/').map(encodeURIComponent).join('/') + (args === '' ? '' : `?${encodeQuery(args)}`);
  if (path.length > LONGEST.path) return null;
  const isUsualPort = port === (scheme === 'https' ? 443 : 80);
  return {
    scheme,
    port,
    method,
    host: isUsualPort ? host : `${host}:${port}`,
    path,
    headers: [
      ...(userAgent === '' ? [] : [field('User-Agent', userAgent)]),
      ...(referer === '' ? [] : [field('Referer', referer)]),
    ],
    ip: address,
  };
}

const encodeQuery = (args: string) => args.replace(/[^\x21-\x22\x24-\x7e]+/gu, encodeURIComponent);

/** Node sends a character as one byte. */
const field = (name: string, value: string): [string, string] => [name, Buffer.from(value).toString('latin1')];
