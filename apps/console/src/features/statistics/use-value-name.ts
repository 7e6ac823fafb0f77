import { wafs } from '@edgeloom/contract/waf/waf.calls.ts';
import { useLanguage } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { valueName, type TopKind } from './top-values.ts';

/** Kinds whose values are WAF rules. */
export const isOfRules = (kind: TopKind): boolean => kind === 'wafRule' || kind === 'wafMonitored';

/** Texts of the values of tops. With `hasRules`, WAF rules have their names, if the account may read them. */
export function useValueName(hasRules: boolean): (kind: TopKind, value: string) => string {
  const language = useLanguage();
  const can = useCan();
  const { data } = useEndpoint(wafs.defaultRules, { query: {} }, { enabled: hasRules && can(wafs.defaultRules) });
  return (kind, value) => {
    if (!isOfRules(kind) || value === '') return valueName(kind, value, language);
    const rule = data?.data.find(({ id }) => id === value);
    return rule ? `${rule.name[language]} · ${value}` : value;
  };
}
