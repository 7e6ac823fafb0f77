// Ordinary requests for the firewall's proof, whose texts look a little like attacks.
import { deflateRawSync, gzipSync } from 'node:zlib';
import type { SeededRandom } from './seeded-random.ts';
import { bytes, places, upload, type Place } from './waf-places.ts';
import { drawDistinct, HALVES, readTexts, type Half, type ProofRequest, type ProofText } from './waf-proof-texts.ts';

const slots: Record<string, readonly [string, ...string[]]> = {
  name: ['Ann', 'Kim', 'Lee', 'Novak', 'Garcia', 'Müller', 'Chen', 'Sato', '王小明', '佐藤', 'Иванов', 'Nguyễn', 'Zoë'],
  word: [
    'paper',
    'garden',
    'update',
    'system',
    'from',
    'script',
    'union',
    'select',
    'order',
    'echo',
    'node',
    'alert',
    'cat',
  ],
  table: ['orders', 'users', 'products', 'invoice_lines', 'public.events', 'articles', 'sessions'],
  host: ['shop.example', 'www.example.org', 'blog.example.net', 'example.com'],
};
const numbers: Record<string, number> = { number: 9000, small: 30 };
const filled = (text: string, random: SeededRandom) =>
  text.replaceAll(/‹(\w+)›/g, (_, slot: string) => {
    const list = slots[slot];
    return list ? random.one(list) : String(1 + Math.floor(random.next() * (numbers[slot] ?? 1)));
  });

const textPlaces = [
  'form',
  'query',
  'json',
  'multipart',
  'json in a form',
  'referer',
  'xml',
  'graphql variable',
  'cookie',
] as const satisfies readonly Place[];
const placesOf: Record<string, readonly Place[]> = {
  names: [...textPlaces, 'path'],
  json: ['json body', 'form', 'query', 'json body', 'json', 'multipart'],
  graphql: ['graphql query', 'graphql body', 'graphql in the query'],
  html: ['form', 'json', 'multipart', 'json in a form'],
  encoded: ['form', 'query', 'json', 'cookie', 'authorization', 'multipart', 'xml'],
  urls: ['query', 'form', 'json', 'referer', 'cookie', 'multipart', 'xml attribute'],
};

type Content = readonly [type: string, content: (random: SeededRandom) => string];
const randomBytes = (most: number, random: SeededRandom) =>
  random.many(most, () => String.fromCharCode(Math.floor(random.next() * 256))).join('');
/** In both halves, because they have no text. */
const binaryContents: readonly Content[] = [
  ['application/gzip', (random) => gzipSync(filled('‹name› ‹number› ‹word›', random).repeat(40)).toString('latin1')],
  [
    'application/pdf',
    (random) =>
      `%PDF-1.7\n1 0 obj<</Filter/FlateDecode>>stream\n${deflateRawSync(filled('‹name› ‹number›', random).repeat(30)).toString('latin1')}\nendstream`,
  ],
  ['image/png', (random) => `\x89PNG\r\n\x1a\n${randomBytes(3000, random)}`],
  ['application/octet-stream', (random) => randomBytes(4000, random)],
];
/** The line is a type, a space and the text. */
const textContent = ({ text }: ProofText): Content => {
  const end = text.indexOf(' ');
  return [text.slice(0, end), (random) => bytes(filled(text.slice(end + 1), random))];
};

const UPLOADS_PER_PAIR = 2;
/** Each file name with each content of its half. */
function uploads(half: Half, names: readonly ProofText[], contents: readonly Content[], known: Set<string>) {
  return names.flatMap(({ id, text, random }) =>
    contents.flatMap(([type, content]) =>
      drawDistinct(UPLOADS_PER_PAIR, known, () => ({
        textId: id,
        category: 'uploads',
        half,
        text,
        place: 'file name',
        request: upload(filled(text, random), type, content(random)),
      })),
    ),
  );
}

const REQUESTS_PER_TEXT = 11;
export async function ordinaryRequests(): Promise<ProofRequest[]> {
  const known = new Set<string>();
  const texts = await readTexts('waf-ordinary-texts');
  const fields = texts
    .filter(({ category }) => !category.startsWith('upload '))
    .flatMap(({ id, category, half, text: template, random }) =>
      drawDistinct(REQUESTS_PER_TEXT, known, (i) => {
        const available = placesOf[category] ?? textPlaces;
        const place = available[i % available.length] ?? 'form';
        const text = filled(template, random);
        return { textId: id, category, half, text, place, request: places[place](text) };
      }),
    );
  const files = HALVES.flatMap((half) => {
    const ofHalf = (category: string) => texts.filter((text) => text.half === half && text.category === category);
    const contents = [...ofHalf('upload texts').map(textContent), ...binaryContents];
    return uploads(half, ofHalf('upload names'), contents, known);
  });
  return [...fields, ...files];
}
