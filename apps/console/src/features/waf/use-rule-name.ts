import { wafs } from '@edgeloom/contract/waf/waf.calls.ts';
import { useLanguage } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

/** Names of WAF rules. Undefined: another release's rule, no right to read rules, or not loaded. */
export function useRuleName(isNeeded: boolean): (id: string) => string | undefined {
  const language = useLanguage();
  const can = useCan();
  const { data } = useEndpoint(wafs.defaultRules, { query: {} }, { enabled: isNeeded && can(wafs.defaultRules) });
  return (id) => data?.data.find((rule) => rule.id === id)?.name[language];
}
