import { useLanguage } from '../../lib/i18n.ts';
import { useRuleName } from '../waf/use-rule-name.ts';
import { valueName, type TopKind } from './top-values.ts';

/** Kinds whose values are WAF rules. */
export const isOfRules = (kind: TopKind): boolean => kind === 'wafRule' || kind === 'wafMonitored';

/** Texts of the values of tops. With `hasRules`, WAF rules have their names, if the account may read them. */
export function useValueName(hasRules: boolean): (kind: TopKind, value: string) => string {
  const language = useLanguage();
  const ruleName = useRuleName(hasRules);
  return (kind, value) => {
    if (!isOfRules(kind) || value === '') return valueName(kind, value, language);
    const name = ruleName(value);
    return name === undefined ? value : `${name} · ${value}`;
  };
}
