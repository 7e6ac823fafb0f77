// Why a name is not yet at its provider. What the provider says stays in its words; what we say ourselves is in the reader's.
import { t } from '../../lib/i18n.ts';

const ours = [
  [/^not ours: (?<found>.+)$/, 'unprocessed.faults.notOurs'],
  [/^(?<value>.+) is no (?<type>A|AAAA|CNAME) value$/, 'unprocessed.faults.noValue'],
  [/^the answer is not understood$/, 'unprocessed.faults.notUnderstood'],
  [/^no answer within (?<seconds>\d+) seconds$/, 'unprocessed.faults.noAnswer'],
  [/^the (?:key|token) reaches no (?:public )?zone (?<zone>\S+)$/, 'unprocessed.faults.noZone'],
] as const;

export function faultWords(fault: string): string {
  const { word, values } = readFault(fault) ?? {};
  return word ? t(word, values) : fault;
}

/** Null: it is the provider's. */
export function readFault(fault: string) {
  for (const [pattern, word] of ours) {
    const found = pattern.exec(fault);
    if (found) return { word, values: { ...found.groups } };
  }
  return null;
}
