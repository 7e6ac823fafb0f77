// Rule matches and origin attempts of a line of an access log.
import type { Line } from './log-lines.ts';
import { MONITOR } from './traffic.ts';

const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** `monitor/<id>` only logged. Other prefixes name rules that could not be evaluated. */
const RULE = new RegExp(`^(?:monitor/)?(${ID})$`);
/** The last value of a step (agent/lua/edge/core/trails.lua). */
const RULE_OF_STEP = new RegExp(`,(?:monitor/)?(${ID})(?:;|$)`, 'g');

/** The note of a rule that only monitors, and that would have ended the request. */
const WOULD_NOTE = new RegExp(`[|;]\\w+,would,,(${ID})(?=;|$)`, 'g');

const NOTE = /,(?:would|match),/;

/** IDs of the rules that matched: the rule that ended the request, those that only monitored, and those of its path. */
export function matchedRulesOf({ rule, trail }: Pick<Line, 'rule' | 'trail'>): string[] {
  if (rule === '' && trail === '') return [];
  const ids = [RULE.exec(rule)?.[1], ...Array.from(trail.matchAll(RULE_OF_STEP), ([, id]) => id)];
  return [...new Set(ids.filter((id) => id !== undefined))];
}

/** IDs of the rules that only monitored, and that would have refused, challenged or redirected the request. */
export function monitoredRulesOf({ rule, trail }: Pick<Line, 'rule' | 'trail'>): string[] {
  if (rule === '' && trail === '') return [];
  const ids = Array.from(trail.matchAll(WOULD_NOTE), ([, id]) => id);
  const last = rule.startsWith(MONITOR) ? RULE.exec(rule)?.[1] : undefined;
  // Older nodes write no notes. Of several such rules, they name only the last.
  if (last !== undefined && !NOTE.test(trail)) ids.push(last);
  return [...new Set(ids.filter((id) => id !== undefined))];
}

interface Attempt {
  /** Address or name, and port. */
  origin: string;
  /** No connection, a timeout, or a response of 5xx. */
  hasFailed: boolean;
}

/** `10.0.0.1:443 (origin.example.com)`: an origin that has a name is counted by it. */
const NAMED = /:(\d+) \((.+)\)$/;

/**
 * The edge writes `10.0.0.1:443, 10.0.0.2:443`. nginx asks another origin after an attempt failed. It asks the same
 * origin again if that one had closed a keepalive connection, which is no failure.
 */
export function originAttemptsOf({ upstream, status, cache }: Pick<Line, 'upstream' | 'status' | 'cache'>): Attempt[] {
  // Older nodes log the attempts for the stored response.
  if (upstream === '' || cache === 'REVALIDATED') return [];
  const tried = upstream.split(/, | : /).filter((origin, i, all) => origin !== all[i + 1]);
  return tried.map((logged, i) => {
    const [, port, name] = NAMED.exec(logged) ?? [];
    const origin = name === undefined ? logged : `${name}:${port}`;
    return { origin, hasFailed: i < tried.length - 1 || (status >= 500 && status < 600) };
  });
}
