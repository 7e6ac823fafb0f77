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
