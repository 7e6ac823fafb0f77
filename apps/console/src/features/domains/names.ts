// Parses pasted names: URLs, comma-separated lists, duplicates.
import { asciiName, DomainNameInput } from '@edgeloom/contract/common/net.ts';
import type { Word } from '../../lib/i18n.ts';

export type Verdict = 'good' | 'wildcard' | 'name' | 'long';

/** A line with its error. */
export interface JudgedName {
  name: string;
  verdict: Verdict;
  /** Why the name cannot be added. */
  fault: string | null;
}

export const verdictWord: Record<Verdict, Word> = {
  good: 'domains.add.verdicts.good',
  wildcard: 'domains.add.verdicts.wildcard',
  name: 'domains.add.verdicts.name',
  long: 'domains.add.verdicts.long',
};

/** Host of a pasted URL as the API stores it: in lower case and punycode. */
const bare = (text: string) =>
  asciiName(
    text
      .trim()
      .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
      .replace(/[/?#].*$/, '')
      .replace(/:\d+$/, '')
      .replace(/\.$/, '')
      .toLowerCase(),
  );

const given = (text: string) =>
  text
    .split(/[\s,;，、；]+/)
    .map(bare)
    .filter((name) => name !== '');

/** Unique names in the given order. */
export const cleanNames = (text: string) => [...new Set(given(text))];

/** Number of duplicates. */
export const countRepeated = (text: string) => given(text).length - cleanNames(text).length;

export function judgeName(name: string): Verdict {
  if (DomainNameInput.safeParse(name).success) return name.startsWith('*.') ? 'wildcard' : 'good';
  return name.length > 253 ? 'long' : 'name';
}
export const isGood = (verdict: Verdict) => verdict === 'good' || verdict === 'wildcard';
