import { wafs } from '@edgeloom/contract/waf/waf.calls.ts';
import { useLanguage } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

/** The name of a WAF rule. Undefined: another release's rule, no right to read rules, or not loaded. */
export type RuleName = (id: string) => string | undefined;

export function useRuleName(isNeeded: boolean): RuleName {
  const language = useLanguage();
  const can = useCan();
  const enabled = isNeeded && can(wafs.defaultRules);
  const { data } = useEndpoint(wafs.defaultRules, { query: {} }, { enabled, isConstant: true });
  return (id) => data?.data.find((rule) => rule.id === id)?.name[language];
}
