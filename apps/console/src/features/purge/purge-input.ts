import { DomainName } from '@edgeloom/contract/common/net.ts';

export const MOST_LINES = 1000;
export type Scope = 'urls' | 'hosts' | 'site';

export const linesOf = (text: string) =>
  [...new Set(text.split('\n').map((line) => line.trim()))].filter((line) => line !== '');

export const isPurgeURL = (line: string) => /^https?:\/\/[^\s/]+\/?\S*$/i.test(line) && URL.canParse(line);
export const isPurgeHost = (line: string) => DomainName.safeParse(line).success;
