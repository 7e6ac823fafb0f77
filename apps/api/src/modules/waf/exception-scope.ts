// The exception that a finding of the firewall suggests: no wider than needed for the same request to pass.
import type { LogRow } from '@edgeloom/contract/logs/logs.ts';
import type { WafExplanation } from '@edgeloom/contract/logs/waf.ts';
import { WafException, type ExceptionScope } from '@edgeloom/contract/waf/waf.ts';
import { rules } from '@edgeloom/waf-rules/rules.ts';
import { MONITOR } from '../../statistics/traffic.ts';

const categoryOf = new Map(rules.map(({ id, category }) => [id, category]));

/** Longer names are cut in explanations (agent/lua/edge/waf/explain.lua). */
const MAX_NAME_BYTES = 64;
/** The longest path of an exception. */
const MAX_PATH = 512;
/** Servers read these in different ways, so an exception must end before them. U+FFFD: a byte that is not UTF-8. */
const AMBIGUOUS = /[%;\\\p{Cc}\uFFFD]/u;

/** Null: the path is `/` or cannot be named, and nothing else would limit the exception within its host. */
export function scopeOf(
  { cause, rule, uri, host }: Pick<LogRow, 'cause' | 'rule' | 'uri' | 'host'>,
  waf: WafExplanation | null,
): ExceptionScope | null {
  const ruleID = waf?.rules[0]?.id ?? (cause === 'waf' && rule.startsWith(MONITOR) ? rule.slice(MONITOR.length) : rule);
  const parameter = waf ? parameterOf(waf) : null;
  const path = pathOf(uri);
  if (path === '/' && parameter === null) return null;
  const scope = {
    rule: ruleOf(ruleID, waf, parameter),
    path: path === '/' ? null : path,
    parameter,
    host: host.toLowerCase(),
  };
  const { success } = WafException.safeParse(scope);
  return success ? scope : null;
}

/**
 * The model's score and other rules of the category refuse the same value, so the exception is for its category, and
 * for all rules if those of several match one parameter. A single rule without a score is excepted alone.
 */
function ruleOf(id: string, waf: WafExplanation | null, parameter: string | null): string | null {
  if (!waf || (waf.score === undefined && waf.rules.length === 1)) return id;
  const categories = new Set(waf.rules.map((rule) => categoryOf.get(rule.id)));
  return categories.size > 1 && parameter !== null ? null : (categoryOf.get(id) ?? id);
}

/** Null: the finding has no name, or the log has only a part of it. */
function parameterOf({ name = '' }: WafExplanation): string | null {
  const bytes = Buffer.from(
    name.replace(/\\x([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    'latin1',
  );
  if (bytes.length >= MAX_NAME_BYTES) return null;
  const text = bytes.toString();
  return WafException.safeParse({ parameter: text }).data?.parameter === text ? text : null;
}

/** The log has decoded paths, the API takes encoded ones. Ends with a slash where it is shorter than the request's. */
function pathOf(uri: string): string {
  const ambiguous = uri.search(AMBIGUOUS);
  let path = ambiguous === -1 ? uri : uri.slice(0, uri.lastIndexOf('/', ambiguous) + 1);
  while (stored(path).length > MAX_PATH) path = path.slice(0, path.lastIndexOf('/', path.length - 2) + 1);
  return stored(path);
}

const stored = (path: string) => path.replace(/[?#*\s]/gu, (char) => (char === '*' ? '%2A' : encodeURIComponent(char)));
