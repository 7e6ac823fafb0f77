import { wafs } from '@edgeloom/contract/waf/waf.calls.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { valueName, type TopKind } from './top-values.ts';

const MONITORED = 'monitor/';

/** Texts of the values of tops. With `hasRules`, WAF rules have their names, if the account may read them. */
export function useValueName(hasRules: boolean): (kind: TopKind, value: string) => string {
  const t = useT();
  const language = useLanguage();
  const can = useCan();
  const { data } = useEndpoint(wafs.defaultRules, { query: {} }, { enabled: hasRules && can(wafs.defaultRules) });
  return (kind, value) => {
    if (kind !== 'wafRule' || value === '') return valueName(kind, value, language);
    const isMonitored = value.startsWith(MONITORED);
    const id = isMonitored ? value.slice(MONITORED.length) : value;
    const rule = data?.data.find((each) => each.id === id);
    const name = rule ? `${rule.name[language]} · ${id}` : id;
    return isMonitored ? t('statistics.monitoredRule', { name }) : name;
  };
}
