// What came of asking a DNS provider. What the provider says stays in its words; what we say ourselves is in the reader's.
import { t } from './i18n.ts';

const ours = [
  [/^not ours: (?<found>.+)$/, 'unprocessed.faults.notOurs'],
  [/^(?<value>.+) is no (?<type>A|AAAA|CNAME) value$/, 'unprocessed.faults.noValue'],
  [/^the answer is not understood$/, 'unprocessed.faults.notUnderstood'],
  [/^no answer within (?<seconds>\d+) seconds$/, 'unprocessed.faults.noAnswer'],
  [/^the (?:key|token) reaches no (?:public )?zone (?<zone>\S+)$/, 'unprocessed.faults.noZone'],
  [/^connect E(?:CONNREFUSED|HOSTUNREACH|NETUNREACH) (?<place>\S+)/, 'unprocessed.faults.nobody'],
  [/^getaddrinfo E\w+ (?<name>\S+)$/, 'unprocessed.faults.noAddress'],
  [/^(?<name>\S+) has no permitted address$/, 'unprocessed.faults.noAddress'],
  [/^HTTP (?<status>\d+)$/, 'unprocessed.faults.status'],
] as const;

export function faultWords(fault: string): string {
  const found = readFault(fault);
  if (found) return t(found.word, found.values);
  // Of several zones each stands before what was said of it.
  const [, zone = '', said = ''] = /^([\w.-]+): (.+)$/.exec(fault) ?? [];
  return readFault(said) ? `${zone}${t('common.colon')}${faultWords(said)}` : fault;
}

/** Null: it is the provider's. */
export function readFault(fault: string) {
  for (const [pattern, word] of ours) {
    const found = pattern.exec(fault);
    if (found) return { word, values: { ...found.groups } };
  }
  return null;
}
