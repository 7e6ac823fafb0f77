// Names as people paste them: addresses copied from a browser, lists with commas, the same name twice.
import { DomainName } from '@edgeloom/contract/common/net.ts';
import type { Word } from '../../lib/i18n.ts';

export type Verdict = 'good' | 'wildcard' | 'lower' | 'name' | 'long';

export const verdictWord: Record<Verdict, Word> = {
  good: 'domains.add.verdicts.good',
  wildcard: 'domains.add.verdicts.wildcard',
  lower: 'domains.add.verdicts.lower',
  name: 'domains.add.verdicts.name',
  long: 'domains.add.verdicts.long',
};

/** What stands between `https://` and the path of a pasted address. The case stays: it is judged, not hidden. */
const bare = (text: string) =>
  text
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/[/?#].*$/, '')
    .replace(/:\d+$/, '')
    .replace(/\.$/, '');

/** One name a line, each once, in the order in which they were given. */
export const cleanNames = (text: string) =>
  [...new Set(text.split(/[\s,;，、；]+/).map(bare))].filter((name) => name !== '');

export function judgeName(name: string): Verdict {
  const found = DomainName.safeParse(name);
  if (found.success) return name.startsWith('*.') ? 'wildcard' : 'good';
  if (name.length > 253) return 'long';
  return found.error.issues.some(({ message }) => message === 'enter lowercase') &&
    DomainName.safeParse(name.toLowerCase()).success
    ? 'lower'
    : 'name';
}
export const isGood = (verdict: Verdict) => verdict === 'good' || verdict === 'wildcard';
