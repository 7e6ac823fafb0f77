// Errors of DNS providers. Provider messages are not translated; our own are.
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
  // With several zones, each message starts with its zone.
  const [, zone = '', message = ''] = /^([\w.-]+): (.+)$/.exec(fault) ?? [];
  return readFault(message) ? `${zone}${t('common.colon')}${faultWords(message)}` : fault;
}

/** Null for a message of the provider. */
export function readFault(fault: string) {
  for (const [pattern, word] of ours) {
    const found = pattern.exec(fault);
    if (found) return { word, values: { ...found.groups } };
  }
  return null;
}
