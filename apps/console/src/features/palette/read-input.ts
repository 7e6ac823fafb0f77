import { DomainName, isAddress } from '@edgeloom/contract/common/net.ts';

/** What somebody typed or pasted, and what to look for. */
export interface Asked {
  kind: 'any' | 'commands' | 'nodes' | 'tags' | 'request' | 'url' | 'address';
  text: string;
  /** Of a pasted URL: as caches know it, under both protocols where none was given. */
  urls: readonly string[];
}

const signs: Readonly<Record<string, Asked['kind']>> = { '>': 'commands', '@': 'nodes', '#': 'tags', '!': 'request' };
const requestID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function readInput(typed: string): Asked {
  const text = typed.trim();
  const sign = signs[text.charAt(0)];
  if (sign) return { kind: sign, text: text.slice(1).trim(), urls: [] };
  if (requestID.test(text)) return { kind: 'request', text, urls: [] };
  if (isAddress(text)) return { kind: 'address', text, urls: [] };
  const url = urlOf(text);
  return url ?? { kind: 'any', text, urls: [] };
}

function urlOf(text: string): Asked | null {
  if (/\s/.test(text)) return null;
  const candidates = /^https?:\/\//i.test(text)
    ? [text]
    : /^[^/]+\//.test(text)
      ? [`https://${text}`, `http://${text}`]
      : [];
  const urls = candidates.flatMap((candidate) => URL.parse(candidate) ?? []);
  const [first] = urls;
  if (!first || first.username !== '' || !DomainName.safeParse(first.hostname).success) return null;
  for (const url of urls) url.hash = '';
  return { kind: 'url', text: first.hostname, urls: urls.map(({ href }) => href) };
}

/** Whether a domain of this name serves the host: by its own name, or as a wildcard one level up. */
export const serves = (domain: string, host: string) =>
  domain === host || (domain.startsWith('*.') && host.slice(host.indexOf('.')) === domain.slice(1));

/** Each word of the text stands somewhere in the phrase. */
export const matches = (phrase: string, text: string) => {
  const lower = phrase.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
};
