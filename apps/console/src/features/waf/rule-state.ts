interface Rule {
  id: string;
  category: string;
  paranoia: number;
}
interface Firewall {
  paranoia: number;
  disabledCategories: readonly string[];
  disabledRules: readonly string[];
  exceptions: readonly { rule: string | null; until: string | null }[];
}

export type RuleState = 'on' | 'off' | 'categoryOff' | 'aboveLevel';

/** Whether a firewall applies a rule. */
export function stateOf({ id, category, paranoia }: Rule, firewall: Firewall): RuleState {
  if (firewall.disabledCategories.includes(category)) return 'categoryOff';
  if (firewall.disabledRules.includes(id)) return 'off';
  return paranoia > firewall.paranoia ? 'aboveLevel' : 'on';
}

/** The number of exceptions that a firewall has for a rule at a time. */
export const exceptionsFor = ({ id, category }: Rule, { exceptions }: Firewall, now: number): number =>
  exceptions.filter(
    ({ rule, until }) =>
      (rule === null || rule === id || rule === category) && (until === null || Date.parse(until) > now),
  ).length;

/** Found by every firewall of a site that reads the beginning of long bodies (plugins/waf.lua). */
const LARGE_BODY = 'protocol-large-body';
interface Count {
  /** A rule's ID. */
  value: string;
  requests: number;
}

/**
 * Requests of a site by rule, from those that a rule refused and those that it only noted. Noted long bodies would not
 * be blocked by firewalls that let them pass, and figures are of all firewalls together.
 */
export function matchesOf(refused: readonly Count[], noted: readonly Count[]) {
  const matches = new Map(refused.map(({ value, requests }) => [value, { requests, wouldBlock: 0 }]));
  for (const { value, requests } of noted)
    matches.set(value, {
      requests: (matches.get(value)?.requests ?? 0) + requests,
      wouldBlock: value === LARGE_BODY ? 0 : requests,
    });
  return matches;
}
