// Attacks for the firewall's proof: each text of waf-attacks-*.txt, as it is and in seeded variants of how attackers
// rewrite, encode and place it.
import type { SeededRandom } from './seeded-random.ts';
import { bytes, percentEncoded, places, type Place } from './waf-places.ts';
import { drawDistinct, readTexts, type ProofRequest, type ProofText } from './waf-proof-texts.ts';

type Rewriting = (text: string, random: SeededRandom) => string;

const randomCase: Rewriting = (text, random) =>
  [...text].map((c) => (random.is(0.5) ? c.toUpperCase() : c.toLowerCase())).join('');
const casesOf =
  (words: RegExp): Rewriting =>
  (text, random) =>
    text.replaceAll(words, (word) => randomCase(word, random));
const spacesAs =
  (...spaces: readonly [string, ...string[]]): Rewriting =>
  (text, random) =>
    text.replaceAll(' ', () => random.one(spaces));

const SQL_WORDS =
  /\b(?:union|select|from|where|and|or|all|null|sleep|waitfor|delay|exec|drop|table|insert|into|case|when|like|limit)\b/gi;
const HTML_NAMES = /<\/?[a-z]+\b|\bon[a-z]+(?==)|javascript(?=:)/gi;
const TOOLS = /\b(?:cat|id|whoami|uname|ls|wget|curl|nc|sleep|ping|rm|find|env|bash|sh|chmod)\b/g;
const PHP_CALLS = /\b(?:system|eval|assert|passthru|phpinfo|shell_exec|base64_decode|call_user_func)(?=\s*\()/g;

/** By category. One that changes nothing of a text is not used for it. */
const rewritings: Record<string, Record<string, Rewriting>> = {
  sqli: {
    case: casesOf(SQL_WORDS),
    comments: spacesAs('/**/', '/*k*/', '/**//**/'),
    whitespace: spacesAs('\t', '\n', '  ', '\r\n'),
    concatenation: (text) => text.replaceAll(/'(\w)(\w+)'/g, "'$1'||'$2'"),
  },
  nosqli: { whitespace: (text) => text.replaceAll(/([{:,])/g, '$1 ') },
  xss: {
    case: casesOf(HTML_NAMES),
    whitespace: (text, random) =>
      text.replaceAll(/(<[a-z]+) /gi, (_, tag) => `${tag}${random.one(['\t', '\n', '/', ' \r\n'])}`),
    entities: (text) => (/<script/i.test(text) ? text : text.replaceAll(/(?<=[=:"'])a(?=lert)/g, '&#97;')),
    escapes: (text) => text.replaceAll(/\balert(?=\()/g, String.raw`\u0061lert`),
    concatenation: (text) => text.replaceAll('document.cookie', "document['coo'+'kie']"),
  },
  command: {
    whitespace: (text) => (/[\\&]/.test(text) ? text : text.replaceAll(/(?<=\w) (?=[\w/-])/g, '${IFS}')),
    quotes: (text, random) =>
      text.replaceAll(TOOLS, (tool) => `${tool[0]}${random.one(["''", '""', '\\'])}${tool.slice(1)}`),
    case: casesOf(/\b(?:type|net user|dir|powershell|certutil)\b/g),
    newline: (text) => text.replace(/^(?:\w*; |\| |&& |& )/, '\n'),
  },
  files: {
    slashes: (text) => text.replaceAll(/(?<=\w|\.)\/(?=\w|\.)/g, '//'),
    case: casesOf(/windows|system32|win\.ini|boot\.ini|inetpub/gi),
    ending: (text) => `${text}\0.jpg`,
  },
  php: {
    case: casesOf(PHP_CALLS),
    comments: (text) => text.replaceAll(PHP_CALLS, '$&/**/'),
    whitespace: (text) => text.replaceAll(PHP_CALLS, '$&\n'),
    concatenation: (text) => text.replaceAll(/\bsystem(?=\()/g, "('sys'.'tem')"),
  },
  template: {
    whitespace: (text) => text.replaceAll(/(\{\{|\$\{(?!\$|jndi|lower|::|env)|<%=)\s*/g, '$1  '),
    concatenation: (text) => text.replaceAll('.__class__', "['__cla'+'ss__']"),
    case: casesOf(/jndi|ldap(?=:)/g),
  },
  ssrf: {
    case: casesOf(/^[a-z]+(?=:)|localhost|metadata/g),
    'user names': (text) => text.replace(/^http:\/\/(?!user)/, 'http://shop.example@'),
  },
  ldap: {
    case: casesOf(/objectClass|uid|cn|userPassword|memberOf/g),
    whitespace: (text) => text.replaceAll(')(', ') ('),
  },
  mail: {
    case: casesOf(/\b(?:bcc|cc|subject|to|content-type|set-cookie|location)(?=:)/gi),
    'line ends': (text) => text.replaceAll('\r\n', '\n'),
  },
  xml: {
    whitespace: (text) => text.replaceAll(/ (?=SYSTEM|PUBLIC|[a-z] SYSTEM)/g, '\n\t'),
    quotes: (text) => (text.startsWith('<') && !text.includes("'") ? text.replaceAll('"', "'") : text),
  },
  deserialization: { whitespace: (text) => text.replaceAll(/":(?=["{t])/g, '" : ') },
  graphql: { whitespace: (text) => text.replaceAll('{', ' {\n  ') },
};

const SPECIAL = /[^\w .-]/g;
const fullWidth = (text: string) =>
  text.replaceAll(/[A-Za-z<>'"=/()]/g, (c) => String.fromCodePoint((c.codePointAt(0) ?? 0) + 0xfee0));
/** Values that applications decode once more. `plain` has only the encoding of its place. */
const encodings = {
  plain: (text: string) => text,
  'url twice': percentEncoded,
  'url three times': (text: string) => percentEncoded(percentEncoded(text)),
  'unicode url': (text: string) =>
    text.replaceAll(SPECIAL, (c) => `%u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`),
  entities: (text: string) => text.replaceAll(SPECIAL, (c) => `&#x${(c.codePointAt(0) ?? 0).toString(16)};`),
  'full width': fullWidth,
  base64: (text: string) => Buffer.from(text).toString('base64'),
};
type Encoding = keyof typeof encodings;
const anyEncoding: readonly Encoding[] = ['plain', 'plain', 'url twice', 'url three times', 'unicode url', 'base64'];

const values = ['query', 'form', 'json', 'json escapes', 'json in a form', 'multipart', 'cookie', 'xml'] as const;
interface Delivery {
  places: (text: string) => readonly [Place, ...Place[]];
  encodings: readonly Encoding[];
}
const delivered = (list: readonly [Place, ...Place[]], kinds: readonly Encoding[] = anyEncoding): Delivery => ({
  places: () => list,
  encodings: kinds,
});
const deliveries: Record<string, Delivery> = {
  sqli: delivered([...values, 'referer', 'xml attribute', 'graphql variable', 'path'], [...anyEncoding, 'full width']),
  nosqli: {
    places: (text) =>
      text.startsWith('{"')
        ? ['json value', 'query', 'form', 'json in a form', 'multipart']
        : ['query', 'form', 'json', 'multipart'],
    encodings: ['plain', 'plain', 'url twice', 'url three times'],
  },
  xss: delivered(
    [...values, 'referer', 'xml attribute', 'graphql variable'],
    [...anyEncoding, 'entities', 'full width'],
  ),
  command: delivered(values),
  files: delivered([...values, 'file name'], [...anyEncoding, 'full width']),
  php: delivered(values),
  template: {
    places: (text) =>
      text.includes('ndi')
        ? ['header', 'user agent', ...values]
        : ['query', 'form', 'json', 'multipart', 'cookie', 'path'],
    encodings: ['plain', 'plain', 'url twice', 'url three times'],
  },
  ssrf: delivered(['query', 'form', 'json', 'json escapes', 'multipart', 'xml', 'xml attribute', 'graphql variable']),
  ldap: delivered(['query', 'form', 'json', 'multipart', 'cookie']),
  mail: delivered(['query', 'form', 'multipart'], ['plain', 'plain', 'url twice', 'url three times']),
  xml: {
    places: (text) =>
      text.startsWith('<') ? ['xml body', 'form', 'json', 'multipart'] : ['query', 'form', 'json', 'cookie'],
    encodings: ['plain', 'plain', 'plain', 'url twice', 'base64'],
  },
  deserialization: {
    places: (text) => {
      if (text.startsWith('<')) return ['xml body', 'form'];
      if (/^class\.|^__proto__/.test(text)) return ['parameter name'];
      return /^[{["]+/.test(text)
        ? ['json body', 'form', 'json', 'multipart']
        : ['form', 'json', 'multipart', 'cookie'];
    },
    encodings: ['plain', 'plain', 'url twice', 'base64'],
  },
  graphql: {
    places: () => ['graphql query', 'graphql body', 'graphql in the query'],
    encodings: ['plain'],
  },
};

/** Shorter texts are not decoded: too many words are base64. */
const MIN_BASE64_BYTES = 12;
/** Places whose value has no text that could be encoded further. */
const barePlaces: ReadonlySet<Place> = new Set([
  'header',
  'user agent',
  'json value',
  'json body',
  'xml body',
  'parameter name',
  'graphql query',
  'graphql body',
  'graphql in the query',
]);
/** A header cannot have line ends, and its bytes are Latin-1. */
const headerPlaces: ReadonlySet<Place> = new Set(['header', 'user agent']);

function variant({ id, category, half, text, random }: ProofText, isFirst: boolean): ProofRequest {
  const delivery = deliveries[category];
  if (!delivery) throw new Error(`no places for the category ${category}`);
  const allPlaces = delivery.places(text);
  const place = isFirst ? allPlaces[0] : random.one(allPlaces);
  const rewritten = isFirst ? text : rewrite(category, text, random);
  const encoding = isFirst || barePlaces.has(place) ? 'plain' : random.one<Encoding>(['plain', ...delivery.encodings]);
  const isTooShort = encoding === 'base64' && rewritten.length < MIN_BASE64_BYTES;
  const value = encodings[isTooShort ? 'plain' : encoding](rewritten);
  const request = places[place](headerPlaces.has(place) ? bytes(value) : value);
  return { textId: id, category, half, text, place, request };
}

/** More rewritings that change the text make more of its variants rewritten. */
function rewrite(category: string, text: string, random: SeededRandom): string {
  const rewritten = Object.values(rewritings[category] ?? {})
    .map((change) => change(text, random))
    .filter((changed) => changed !== text);
  return random.one([text, ...rewritten, ...rewritten]);
}

const REQUESTS_PER_TEXT = 6;
export async function proofAttacks(): Promise<ProofRequest[]> {
  const known = new Set<string>();
  return (await readTexts('waf-attacks')).flatMap((text) =>
    drawDistinct(REQUESTS_PER_TEXT, known, (i) => variant(text, i === 0)),
  );
}
