// Selects what log rows can replay: requests, and the rules about which a row has enough. Other rules are left out,
// since without their fields they would match too often or never. WAF modules stay: they inspect what rows have.
import type { AclDoc } from '@edgeloom/contract/edge/module-doc.ts';
import type { EdgeDoc, HostDoc, SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import type { ReplayedRequest } from '@edgeloom/contract/edge/simulated.ts';
import type { ReplayGap } from '@edgeloom/contract/simulate/replay.ts';
import type { RequestGroup } from '../../access-log/access-log.ts';

export interface MissingData {
  /** The log has neither queries nor the query of Referer. */
  isQueryMasked: boolean;
  /** The nodes have no geo pack. */
  areRegionsUnknown: boolean;
}

/** Removes the rules that log rows cannot replay, and adds the reasons to `gaps`. */
export function withoutUnreplayableRules(doc: EdgeDoc, missing: MissingData, gaps: Set<ReplayGap>): EdgeDoc {
  if (doc.kind === 'site') return replayableSite(doc, missing, gaps);
  if (doc.kind === 'host') return replayableHost(doc, missing, gaps);
  if (doc.kind !== 'module') return doc;
  if (doc.module === 'acl') return replayableAcl(doc, missing, gaps);
  if (doc.module === 'waf' && doc.mode !== 'off') {
    gaps.add('headers');
    gaps.add('bodies');
  }
  return doc;
}

function replayableSite(
  { frequencies, limitReqs, limitConns, maxConnections, crawlers, antiCCs, antiHeaders, ...site }: SiteDoc,
  missing: MissingData,
  gaps: Set<ReplayGap>,
): SiteDoc {
  if (frequencies || limitReqs || limitConns || maxConnections) gaps.add('limits');
  if (antiCCs) gaps.add('challenges');
  if (site.geos && missing.areRegionsUnknown) gaps.add('regions');
  return {
    ...site,
    ...loggedHeaders(antiHeaders, missing, gaps),
    ...replayableCrawlerRules(crawlers, gaps),
  };
}

/** Nodes verify crawlers on their own. Whether one is an impostor, or exempt from a challenge, is not in the log. */
function replayableCrawlerRules(rules: SiteDoc['crawlers'], gaps: Set<ReplayGap>): Pick<SiteDoc, 'crawlers'> {
  const replayable = (rules ?? []).filter(({ category, action }) => {
    if (action === 'limit') gaps.add('limits');
    else if (category === 'impostor' || action === 'challenge') gaps.add('bots');
    else return true;
    return false;
  });
  return replayable.length > 0 ? { crawlers: replayable } : {};
}

function replayableHost(
  { antiHeaders, modules, ...host }: HostDoc,
  missing: MissingData,
  gaps: Set<ReplayGap>,
): HostDoc {
  const { tokenAuth, luaAcl, ...replayableModules } = modules ?? {};
  // A token that was valid when logged may have expired.
  if (tokenAuth !== undefined) gaps.add('tokens');
  if (luaAcl !== undefined) gaps.add('scripts');
  return { ...host, ...loggedHeaders(antiHeaders, missing, gaps), ...(modules && { modules: replayableModules }) };
}

const LOGGED_HEADERS = new Set(['user-agent', 'referer', 'host']);

/** Undefined: the log has the whole header. */
function gapOfHeader(name: string, { isQueryMasked }: MissingData): ReplayGap | undefined {
  if (!LOGGED_HEADERS.has(name)) return 'headers';
  return isQueryMasked && name === 'referer' ? 'query' : undefined;
}

function loggedHeaders(
  rules: SiteDoc['antiHeaders'],
  missing: MissingData,
  gaps: Set<ReplayGap>,
): Pick<SiteDoc, 'antiHeaders'> {
  const logged = (rules ?? []).filter(({ name }) => {
    const gap = gapOfHeader(name, missing);
    if (gap !== undefined) gaps.add(gap);
    return gap === undefined;
  });
  return logged.length > 0 ? { antiHeaders: logged } : {};
}

type Condition = AclDoc['rules'][number]['any'][number][number];
const gapOfField: Readonly<Record<string, ReplayGap>> = {
  cookie: 'cookies',
  bodyText: 'bodies',
  contentLength: 'bodies',
  httpVersion: 'connections',
  botState: 'bots',
};
const REGION_FIELDS = new Set(['country', 'province', 'continent', 'isp', 'asn']);
const QUERY_FIELDS = new Set(['args', 'arg', 'uri', 'referer']);

function gapOf({ field: text, name = '' }: Condition, missing: MissingData): ReplayGap | undefined {
  const field = text.replace(/:$/, '');
  if (field === 'header') return gapOfHeader(name, missing);
  if (missing.areRegionsUnknown && REGION_FIELDS.has(field)) return 'regions';
  return missing.isQueryMasked && QUERY_FIELDS.has(field) ? 'query' : gapOfField[field];
}

function replayableAcl(doc: AclDoc, missing: MissingData, gaps: Set<ReplayGap>): AclDoc {
  const rules: AclDoc['rules'] = [];
  for (const rule of doc.rules) {
    const ownGaps = rule.any.flat().flatMap((condition) => gapOf(condition, missing) ?? []);
    for (const gap of ownGaps) gaps.add(gap);
    if (ownGaps.length === 0) rules.push(rule);
    // It may skip the rules after it, so they are left out as well.
    else if (rule.action === 'allow' && !rule.monitor) break;
  }
  return { ...doc, rules };
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/**
 * Texts of this length may have been cut by the log (statistics/access-log.ts). `path`: the longest of a simulation,
 * which is allowed itself.
 */
const MAX_LENGTHS = { uri: 2048, args: 2048, userAgent: 512, referer: 1024, path: 8192 } as const;
/** Control characters are invalid in a request. U+FFFD stands for a byte that the log could not keep. */
// oxlint-disable-next-line no-control-regex -- it finds them
const UNSENDABLE = /[\u0000-\u0008\u000a-\u001f\u007f\ufffd]/;
/** The log has the decoded path. Another form of such a path may be treated differently. */
const AMBIGUOUS = /[%\\]/;

/** Null when the row cannot be turned into the exact request: it is cut, ambiguous or cannot be sent. */
export function requestOf(row: RequestGroup): ReplayedRequest | null {
  const { method, scheme, host, port, uri, args, userAgent, referer, address } = row;
  if (!METHODS.has(method) || (scheme !== 'http' && scheme !== 'https')) return null;
  if (uri.length >= MAX_LENGTHS.uri || args.length >= MAX_LENGTHS.args) return null;
  if (userAgent.length >= MAX_LENGTHS.userAgent || referer.length >= MAX_LENGTHS.referer) return null;
  const texts = [host, uri, args, userAgent, referer];
  if (texts.some((text) => UNSENDABLE.test(text) || !text.isWellFormed())) return null;
  if (AMBIGUOUS.test(uri) || !uri.startsWith('/')) return null;
  const path = uri.split('/').map(encodeURIComponent).join('/') + (args === '' ? '' : `?${encodeQuery(args)}`);
  if (path.length > MAX_LENGTHS.path) return null;
  const isUsualPort = port === (scheme === 'https' ? 443 : 80);
  return {
    scheme,
    port,
    method,
    host: isUsualPort ? host : `${host}:${port}`,
    path,
    headers: [
      ...(userAgent === '' ? [] : [headerField('User-Agent', userAgent)]),
      ...(referer === '' ? [] : [headerField('Referer', referer)]),
    ],
    ip: address,
  };
}

const encodeQuery = (args: string) => args.replace(/[^\x21-\x22\x24-\x7e]+/gu, encodeURIComponent);

/** Node.js writes headers as Latin-1, one byte for each character, so the UTF-8 bytes become characters. */
const headerField = (name: string, value: string): [string, string] => [name, Buffer.from(value).toString('latin1')];
