// Suggests an exception for a WAF finding: limited to its host, path prefix and parameter where they are known.
import type { LogRow } from '@edgeloom/contract/logs/logs.ts';
import type { WafExplanation } from '@edgeloom/contract/waf/explanation.ts';
import { WafException, type ExceptionScope } from '@edgeloom/contract/waf/waf.ts';
import { rules } from '@edgeloom/waf-rules/rules.ts';
import { MONITOR } from '../../statistics/traffic.ts';

const categoryOf = new Map(rules.map(({ id, category }) => [id, category]));

/** Longer names are cut in explanations (agent/lua/edge/waf/explain.lua). */
const MAX_NAME_BYTES = 64;
/** The longest path of an exception. */
const MAX_PATH_LENGTH = 512;
/**
 * Servers may interpret these differently, so a path ends before the segment that has one. U+FFFD: a byte that is not
 * UTF-8.
 */
const AMBIGUOUS = /[%;\\\p{Cc}\uFFFD]/u;

/** Null when the exception would cover the whole host, or the API would reject it. */
export function suggestedScope(
  { cause, rule, uri, host }: Pick<LogRow, 'cause' | 'rule' | 'uri' | 'host'>,
  waf: WafExplanation | null,
): ExceptionScope | null {
  const ruleID = waf?.rules[0]?.id ?? (cause === 'waf' && rule.startsWith(MONITOR) ? rule.slice(MONITOR.length) : rule);
  const parameter = waf ? parameterOf(waf) : null;
  const path = pathPrefixOf(uri);
  if (path === '/' && parameter === null) return null;
  const scope = {
    rule: ruleOrCategoryOf(ruleID, waf, parameter),
    path: path === '/' ? null : path,
    parameter,
    host: host.toLowerCase(),
  };
  const { success } = WafException.safeParse(scope);
  return success ? scope : null;
}

/**
 * The model's score and other rules of the category refuse the same value, so the exception is for its category, and
 * for all rules if those of several match one parameter. Without a parameter, it is for the deciding rule's category
 * only. A single rule without a score is excepted alone.
 */
function ruleOrCategoryOf(id: string, waf: WafExplanation | null, parameter: string | null): string | null {
  if (!waf || (waf.score === undefined && waf.rules.length === 1)) return id;
  const categories = new Set(waf.rules.map((rule) => categoryOf.get(rule.id)));
  return categories.size > 1 && parameter !== null ? null : (categoryOf.get(id) ?? id);
}

/** Null when the finding has no name, the log may have only a part of it, or the API would change or reject it. */
function parameterOf({ name = '' }: WafExplanation): string | null {
  const bytes = Buffer.from(
    name.replace(/\\x([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    'latin1',
  );
  if (bytes.length >= MAX_NAME_BYTES) return null;
  const text = bytes.toString();
  return WafException.safeParse({ parameter: text }).data?.parameter === text ? text : null;
}

/**
 * The longest unambiguous prefix of the logged path, as the API spells it: only `?`, `#`, `*` and white space are
 * escaped. A shortened path ends with a slash.
 */
function pathPrefixOf(uri: string): string {
  const ambiguous = uri.search(AMBIGUOUS);
  let path = ambiguous === -1 ? uri : uri.slice(0, uri.lastIndexOf('/', ambiguous) + 1);
  while (escapePath(path).length > MAX_PATH_LENGTH) path = path.slice(0, path.lastIndexOf('/', path.length - 2) + 1);
  return escapePath(path);
}

const escapePath = (path: string) =>
  path.replace(/[?#*\s]/gu, (char) => (char === '*' ? '%2A' : encodeURIComponent(char)));
