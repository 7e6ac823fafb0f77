import { DomainName, isAddress } from '@edgeloom/contract/common/net.ts';

/** Parsed input of the palette. */
export interface Asked {
  kind: 'any' | 'commands' | 'nodes' | 'tags' | 'request' | 'url' | 'address';
  text: string;
  /** For a pasted URL: its cache keys, for both protocols if none was given. */
  urls: readonly string[];
}

const signs: Readonly<Record<string, Asked['kind']>> = { '>': 'commands', '@': 'nodes', '#': 'tags', '!': 'request' };
/** IDs of API calls are UUIDs; those of visitors' requests have no hyphens. */
const requestID = /^(?:[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;

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

/** Whether the domain serves the host, by name or by wildcard. */
export const serves = (domain: string, host: string) =>
  domain === host || (domain.startsWith('*.') && host.slice(host.indexOf('.')) === domain.slice(1));

const plain = (text: string) => text.normalize('NFKC').toLowerCase();

/** Whether the phrase contains each word of the text. */
export const matches = (phrase: string, text: string) => {
  const lower = plain(phrase);
  return plain(text)
    .split(/\s+/)
    .every((word) => lower.includes(word));
};

const verbs = new Set(['add', 'new', 'create', 'make', 'install', 'issue', 'upload', 'block']);
const articles = new Set(['a', 'an', 'the']);
/** Chinese has no spaces, so verbs are removed anywhere in the text. */
const hanVerbs = /新增|新建|建立|創建|创建|增加|添加|加入|安裝|安装|申請|申请|上傳|上传|封鎖|封禁|拦截/g;

const wordsOf = (text: string) => plain(text).replaceAll(hanVerbs, ' ').split(/\s+/).filter(Boolean);
/** Nouns of a command without verb and article, in the singular: `create zones` → `zone`. */
export const nounsOf = (text: string): string[] =>
  wordsOf(text)
    .filter((word) => !verbs.has(word) && !articles.has(word))
    .map((word) => word.replace(/(?<=[a-z][a-rt-z])s$/, ''));
const hasVerb = (text: string) => plain(text).search(hanVerbs) >= 0 || wordsOf(text).some((word) => verbs.has(word));

interface Named {
  title: string;
  detail?: string | undefined;
  nouns?: readonly string[] | undefined;
  also?: string | undefined;
}

/** Whether an item matches. Create commands match any verb and word order. */
export function fits({ title, detail = '', nouns, also = '' }: Named, text: string): boolean {
  if (matches(`${title} ${detail} ${nouns === undefined ? also : ''}`, text)) return true;
  const asked = nounsOf(text);
  return nouns !== undefined && hasVerb(text) && asked.length > 0 && matches(`${title} ${also}`, asked.join(' '));
}

/** Match quality: 0 equal, 1 prefix, 2 prefix of a word, 3 substring, 4 other search terms. */
export function nearness({ title, nouns }: Named, text: string): number {
  const [name, asked] = [plain(title), plain(text)];
  if (name === asked) return 0;
  const wanted = nounsOf(text);
  const isAsked = nouns !== undefined && hasVerb(text) && wanted.length > 0;
  if (isAsked && wanted.length === nouns.length && wanted.every((noun) => nouns.includes(noun))) return 0;
  if (name.startsWith(asked)) return 1;
  const at = name.indexOf(asked);
  if (at < 0) return isAsked && wanted.every((noun) => nouns.includes(noun)) ? 2 : 4;
  return startsWord(name, asked) ? 2 : 3;
}

const startsWord = (name: string, asked: string) =>
  name.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(asked));
