// The redirects of a module as lookup tables, and loop detection.
import { pathKey, pathOfKey } from '../common/paths.ts';
import type { UrlRedirectDoc } from '../edge/module-doc.ts';
import { keyOfSource, literalOf, partsOfTarget, readSource } from './redirect-rules.ts';
import type { Redirect } from './redirects.ts';

export type RedirectRule = Pick<
  Redirect,
  'id' | 'type' | 'source' | 'target' | 'keepQuery' | 'keepRest' | 'priority'
> & { code: UrlRedirectDoc['patterns'][number]['code'] };
export type RedirectTable = Pick<UrlRedirectDoc, 'exact' | 'prefix' | 'patterns' | 'hosts' | 'queries'>;

/** Built from enabled rules. Sorted, so that equal rules give equal bytes. */
export function redirectTable(rules: readonly RedirectRule[]): RedirectTable {
  const table: RedirectTable = { exact: {}, prefix: {}, patterns: [], hosts: false, queries: false };
  for (const rule of [...rules].sort(inOrder)) {
    const { id, type, source, target, code, keepQuery, keepRest } = rule;
    const keepsRest = type === 'prefix' && keepRest;
    const common = { id, code, to: partsOfTarget(type, target, keepsRest), keepQuery };
    if (type === 'regex') {
      table.patterns.push({ ...common, literal: literalOf(source), pattern: source });
      continue;
    }
    const read = readSource(type, source);
    if (!read) continue;
    table.hosts ||= read.host !== null;
    table.queries ||= read.query !== null;
    if (type === 'exact') table.exact[keyOfSource(read)] = common;
    else table.prefix[keyOfSource(read)] = { ...common, keepRest };
  }
  return table;
}

function inOrder(a: RedirectRule, b: RedirectRule): number {
  return a.priority - b.priority || (a.id < b.id ? -1 : 1);
}

interface Place {
  /** Empty: any host that no rule names. */
  host: string;
  /** Escaped, except for slashes. */
  path: string;
  query: string | null;
}

const own = <Value>(table: Record<string, Value>, key: string) => (Object.hasOwn(table, key) ? table[key] : undefined);

/** Follows exact rules and prefixes once. Null: no redirect. */
function step(table: RedirectTable, { host, path, query }: Place): Place | null {
  const keys = (tail: string) => (host === '' ? [tail] : [host + tail, tail]);
  const whole = pathKey(path);
  const exact = [...(query === null ? [] : keys(`${whole}?${query}`)), ...keys(whole)]
    .map((key) => own(table.exact, key))
    .find((rule) => rule !== undefined);
  if (exact) return going(exact.to[0] ?? '', '', exact.keepQuery ? query : null, host);
  for (let head = path.replace(/\/$/, ''); ; head = head.slice(0, head.lastIndexOf('/'))) {
    const rule = keys(pathKey(head))
      .map((key) => own(table.prefix, key))
      .find((found) => found !== undefined);
    if (rule)
      return going(rule.to[0] ?? '', rule.keepRest ? path.slice(head.length) : '', rule.keepQuery ? query : null, host);
    if (!head.includes('/')) return null;
  }
}

function going(to: string, rest: string, query: string | null, host: string): Place {
  const url = new URL(to === '' ? '/' : to, 'http://here.invalid');
  const own = to.startsWith('/') || to === '';
  const ownQuery = url.search.slice(1);
  const path = url.pathname.replace(/%2f/gi, '/');
  return {
    host: own ? host : url.hostname,
    path: own && to === '' ? rest || '/' : path === '/' && rest !== '' ? rest : path + rest,
    query: [ownQuery, query ?? ''].filter((part) => part !== '').join('&') || null,
  };
}

const MOST_HOPS = 10;

/**
 * Whether a visitor who follows this rule would loop. Follows exact rules and prefixes on hosts with the module.
 * Patterns depend on the visitor, so the edge checks those.
 */
export function leadsInCircles(table: RedirectTable, rule: RedirectRule, hosts: ReadonlySet<string>): boolean {
  if (rule.type === 'regex') return false;
  const source = readSource(rule.type, rule.source);
  if (!source) return false;
  let at: Place = { host: source.host ?? '', path: pathOfKey(source.path) || '/', query: source.query };
  for (let hop = 0; hop < MOST_HOPS; hop += 1) {
    const next = step(table, at);
    if (!next || (next.host !== at.host && !hosts.has(next.host))) return false;
    at = next;
  }
  return true;
}
