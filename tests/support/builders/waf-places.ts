// Puts a text into a request, at one of the places where applications take input.
import type { WafRequest } from '../services/waf-engine.ts';

const AGENT = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:131.0) Gecko/20100101 Firefox/131.0';
const headers = [
  ['User-Agent', AGENT],
  ['Accept', '*/*'],
] as const;
/** UTF-8 bytes as Latin-1. */
export const bytes = (text: string) => Buffer.from(text).toString('latin1');

const get = (target: string, ...more: (readonly [string, string])[]): WafRequest => ({
  target,
  headers: [...headers, ...more],
  body: '',
});
const post = (target: string, type: string, body: string): WafRequest => ({
  target,
  headers: [...headers, ['Content-Type', type]],
  body,
});

/** encodeURIComponent keeps !'()*. Scanners and most libraries encode them. */
export const percentEncoded = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (c) => `%${c.codePointAt(0)?.toString(16)}`);
const escapedXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const BOUNDARY = '----form7MA4YWxkTrZu0gW';
const part = (head: string, content: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
/** `content`: bytes as Latin-1. */
export const upload = (fileName: string, type: string, content: string): WafRequest =>
  post(
    '/files',
    `multipart/form-data; boundary=${BOUNDARY}`,
    `${part('name="folder"', 'inbox')}--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${bytes(
      fileName,
    ).replaceAll('"', '%22')}"\r\nContent-Type: ${type}\r\n\r\n${content}\r\n--${BOUNDARY}--\r\n`,
  );

const json = (target: string, body: string) => post(target, 'application/json', bytes(body));
const form = (fields: Record<string, string>) =>
  post('/submit', 'application/x-www-form-urlencoded', new URLSearchParams(fields).toString());

export const places = {
  query: (text: string) => get(`/list?page=2&q=${percentEncoded(text)}`),
  path: (text: string) => get(`/topics/${percentEncoded(text)}`),
  form: (text: string) => form({ title: 'Report', text, action: 'save' }),
  json: (text: string) => json('/api/notes', JSON.stringify({ id: 7, note: { text, tags: ['a', 'b'] } })),
  'json escapes': (text: string) =>
    json(
      '/api/notes',
      `{"id":7,"text":"${[...text].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"}`,
    ),
  'json in a form': (text: string) => form({ payload: JSON.stringify({ id: 7, text }) }),
  multipart: (text: string) =>
    post(
      '/submit',
      `multipart/form-data; boundary=${BOUNDARY}`,
      `${part('name="title"', 'Report')}${part('name="text"', bytes(text))}--${BOUNDARY}--\r\n`,
    ),
  'file name': (text: string) => upload(text, 'image/jpeg', '\xff\xd8\xff\xe0'),
  cookie: (text: string) => get('/', ['Cookie', `theme=dark; last=${percentEncoded(text)}`]),
  referer: (text: string) => get('/', ['Referer', `https://shop.example/list?q=${percentEncoded(text)}`]),
  header: (text: string) => get('/', ['X-Api-Version', text]),
  'user agent': (text: string): WafRequest => ({ target: '/', headers: [['User-Agent', text]], body: '' }),
  authorization: (text: string) =>
    get('/api/me', ['Authorization', bytes(text.startsWith('Bearer ') ? text : `Bearer ${text}`)]),
  xml: (text: string) =>
    post('/soap', 'text/xml', bytes(`<?xml version="1.0"?><note><to>Ann</to><text>${escapedXml(text)}</text></note>`)),
  'xml attribute': (text: string) => post('/soap', 'text/xml', bytes(`<note id="7" text="${escapedXml(text)}"/>`)),
  'graphql variable': (text: string) =>
    json('/graphql', JSON.stringify({ query: 'query($q:String!){search(q:$q){id}}', variables: { q: text } })),
  'graphql query': (text: string) => json('/graphql', JSON.stringify({ query: text })),
  'graphql body': (text: string) => post('/graphql', 'application/graphql', bytes(text)),
  'graphql in the query': (text: string) => get(`/graphql?query=${percentEncoded(text)}`),
  'json value': (text: string) => json('/api/login', `{"user":"ann","pass":${text}}`),
  'json body': (text: string) => json('/api/items', text),
  'xml body': (text: string) => post('/soap', 'application/xml', bytes(text)),
  'parameter name': (text: string) =>
    get(`/list?${percentEncoded(text.split('=')[0] ?? '')}=${percentEncoded(text.split('=')[1] ?? '')}`),
} satisfies Record<string, (text: string) => WafRequest>;
export type Place = keyof typeof places;
