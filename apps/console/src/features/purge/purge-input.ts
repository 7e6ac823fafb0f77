import { PurgeTag } from '@edgeloom/contract/purge/purge.ts';
import { DomainName } from '@edgeloom/contract/common/net.ts';

export const MOST_LINES = 1000;
export type Listed = 'urls' | 'prefixes' | 'hosts' | 'tags';
export type Scope = Listed | 'site';

export const linesOf = (text: string) =>
  [...new Set(text.split('\n').map((line) => line.trim()))].filter((line) => line !== '');

export const isPurgeURL = (line: string) => /^https?:\/\/[^\s/]+\/?\S*$/i.test(line) && URL.canParse(line);
export const isPurgeHost = (line: string) => DomainName.safeParse(line).success;
/** A prefix ends with / and has no query. */
const isPurgePrefix = (line: string) => isPurgeURL(line) && line.endsWith('/') && !line.includes('?');

/** API type of each purge, and its line validation. */
export const listed: Record<Listed, { type: 1 | 2 | 3 | 4; good: (line: string) => boolean }> = {
  urls: { type: 1, good: isPurgeURL },
  prefixes: { type: 2, good: isPurgePrefix },
  hosts: { type: 3, good: isPurgeHost },
  tags: { type: 4, good: (line) => PurgeTag.safeParse(line).success },
};
