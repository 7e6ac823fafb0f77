// Cacheable and uncacheable responses (RFC 9111, 9110, 9213) as data, shared by the edge tests and the cache bench.
import type { OutgoingHttpHeader } from 'node:http';
import type { Ask } from '../services/edge.ts';

type Fields = Record<string, OutgoingHttpHeader>;
/** The claim, the origin's response headers, its status, and the request. */
export type Case = [sentence: string, fields: Fields, status?: number, ask?: Ask];

export const HOUR = 3600;
export const date = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();

function rfc850(seconds: number): string {
  const [, day = '', month = '', year = '', time = ''] = date(seconds).split(/[ ,]+/);
  const name = new Date(Date.now() + seconds * 1000).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
  return `${name}, ${day}-${month}-${year.slice(2)} ${time} GMT`;
}
function asctime(seconds: number): string {
  const [name = '', day = '', month = '', year = '', time = ''] = date(seconds).split(/[ ,]+/);
  return `${name} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`;
}

/** A well-formed CDN-Cache-Control overrides Cache-Control. */
const validCdnCacheControl = (text: string): Case => [
  `CDN-Cache-Control: ${text}`,
  { 'cache-control': 'no-store', expires: date(-HOUR), 'cdn-cache-control': text },
];
/** A malformed CDN-Cache-Control is ignored. */
const invalidCdnCacheControl = (text: string): Case => [
  `a broken CDN-Cache-Control: ${text}`,
  { 'cache-control': 'max-age=60', 'cdn-cache-control': text },
];
/** A well-formed CDN-Cache-Control that forbids caching overrides a Cache-Control that allows caching. */
const forbiddingCdnCacheControl = (text: string): Case => [
  `CDN-Cache-Control: ${text}`,
  { 'cache-control': 'max-age=60', 'cdn-cache-control': text },
];

/** The second request is served from the cache. */
export const cacheable: Case[] = [
  ['max-age', { 'cache-control': 'max-age=60' }],
  ['max-age in capitals', { 'Cache-Control': 'MAX-AGE=60' }],
  ['a quoted max-age', { 'cache-control': 'max-age="60"' }],
  ['max-age among what nobody knows', { 'cache-control': 'foo, bar="a, no-store", max-age=60, baz=1' }],
  ['directives in two lines', { 'cache-control': ['public', 'max-age=60'] }],
  ['an empty directive before it', { 'cache-control': ', ,max-age=60' }],
  ['a max-age beyond all numbers', { 'cache-control': 'max-age=99999999999999' }],
  ['s-maxage that is longer than max-age', { 'cache-control': 'max-age=0, s-maxage=60' }],
  ['max-age although Expires has passed', { 'cache-control': 'max-age=60', expires: date(-HOUR) }],
  ['Expires in the future', { expires: date(HOUR) }],
  ['Expires of RFC 850', { expires: rfc850(HOUR) }],
  ['Expires of asctime', { expires: asctime(HOUR) }],
  ['an Age below max-age', { 'cache-control': 'max-age=60', age: '10' }],
  ['a Date below max-age', { 'cache-control': 'max-age=600', date: date(-60) }],
  ['max-age on a 404', { 'cache-control': 'max-age=60' }, 404],
  ['max-age on a 301', { 'cache-control': 'max-age=60', location: '/there' }, 301],
  ['max-age on a 302', { 'cache-control': 'max-age=60', location: '/there' }, 302],
  ['max-age on a 410', { 'cache-control': 'max-age=60' }, 410],
  ['max-age on a status nobody knows', { 'cache-control': 'max-age=60' }, 299],
  ['private for one field only', { 'cache-control': 'max-age=60, private="x-name"' }],
  ['no-cache for one field only', { 'cache-control': 'max-age=60, no-cache="x-name"' }],
  ['must-understand, which overrides no-store', { 'cache-control': 'max-age=60, no-store, must-understand' }],
  ['CDN-Cache-Control against no-store', { 'cache-control': 'no-store', 'cdn-cache-control': 'max-age=60' }],
  [
    'a broken CDN-Cache-Control, which does not count',
    { 'cache-control': 'max-age=60', 'cdn-cache-control': 'max-age=0, =' },
  ],
  [
    'a CDN-Cache-Control with a text for a number',
    { 'cache-control': 'max-age=60', 'cdn-cache-control': 'max-age="0"' },
  ],
  ['an Age of nonsense', { 'cache-control': 'max-age=60', age: 'soon' }],
  ['a Date of nonsense', { 'cache-control': 'max-age=60', date: 'today' }],
  ['a Date ahead of its time', { 'cache-control': 'max-age=60', date: date(HOUR) }],
  ['max-age on a 203', { 'cache-control': 'max-age=60' }, 203],
  ['max-age on a 300', { 'cache-control': 'max-age=60' }, 300],
  ['max-age on a 307', { 'cache-control': 'max-age=60', location: '/there' }, 307],
  ['max-age on a 308', { 'cache-control': 'max-age=60', location: '/there' }, 308],
  ['max-age on a 403', { 'cache-control': 'max-age=60' }, 403],
  ['max-age on a 500', { 'cache-control': 'max-age=60' }, 500],
  ['Pragma: no-cache in an answer, which means nothing', { 'cache-control': 'max-age=60', pragma: 'no-cache' }],
  validCdnCacheControl('max-age=60'),
  validCdnCacheControl('  max-age=60  '),
  validCdnCacheControl('max-age=60, public'),
  validCdnCacheControl('max-age=60,public'),
  validCdnCacheControl('public , max-age=60'),
  validCdnCacheControl('max-age=60;why="because"'),
  validCdnCacheControl('max-age=60; a=?0; b=1.5; c'),
  validCdnCacheControl('max-age=0, max-age=60'),
  validCdnCacheControl('unknown=(1 2 "three" ?1), max-age=60'),
  validCdnCacheControl('unknown=:aGVsbG8=:, max-age=60'),
  validCdnCacheControl('unknown="a, no-store", max-age=60'),
  validCdnCacheControl('*star=tok/en:1, max-age=60'),
  validCdnCacheControl('no-store=?0, max-age=60'),
  validCdnCacheControl('s-maxage=60, max-age=0'),
  validCdnCacheControl('max-age=999999999999999'),
  validCdnCacheControl('s-maxage=60'),
  invalidCdnCacheControl(''),
  invalidCdnCacheControl('max-age=0,'),
  invalidCdnCacheControl(',max-age=0'),
  invalidCdnCacheControl('max-age=0 no-store'),
  invalidCdnCacheControl('max-age=0,, no-store'),
  invalidCdnCacheControl('Max-Age=0'),
  invalidCdnCacheControl('max-age= 0'),
  invalidCdnCacheControl('max-age =0'),
  invalidCdnCacheControl('max-age=0; =1'),
  invalidCdnCacheControl('max-age=0, a="open'),
  invalidCdnCacheControl('max-age=0, a="bad \\escape"'),
  invalidCdnCacheControl('max-age=0, a=(1 2'),
  invalidCdnCacheControl('max-age=0, a=(1,2)'),
  invalidCdnCacheControl('max-age=0, a=:not base64!:'),
  invalidCdnCacheControl('max-age=0, a=?2'),
  invalidCdnCacheControl('max-age=0, a=1.2345'),
  invalidCdnCacheControl('max-age=0000000000000000'),
  invalidCdnCacheControl('max-age=?1, no-store'),
  invalidCdnCacheControl('no-store=, max-age=60'),
];

/** The second request is forwarded to the origin. */
export const uncacheable: Case[] = [
  ['nothing said', {}],
  ['Last-Modified alone', { 'last-modified': date(-365 * 86_400) }],
  ['no-store', { 'cache-control': 'max-age=60, no-store' }],
  ['no-store in capitals', { 'cache-control': 'max-age=60, NO-STORE' }],
  ['private', { 'cache-control': 'max-age=60, private' }],
  ['no-cache without a validator', { 'cache-control': 'max-age=60, no-cache' }],
  ['max-age=0 without a validator', { 'cache-control': 'max-age=0' }],
  ['s-maxage=0 before max-age', { 'cache-control': 's-maxage=0, max-age=60' }],
  ['two different max-age', { 'cache-control': 'max-age=60, max-age=0' }],
  ['a negative max-age', { 'cache-control': 'max-age=-60' }],
  ['a fraction for max-age', { 'cache-control': 'max-age=60.5' }],
  ['a blank within max-age', { 'cache-control': 'max-age =60' }],
  ['max-age inside a quoted text', { 'cache-control': 'foo="max-age=60"' }],
  ['max-age as a part of another name', { 'cache-control': 'x-max-age=60' }],
  ['Expires in the past', { expires: date(-HOUR) }],
  ['Expires: 0', { expires: '0' }],
  ['Expires in another zone', { expires: date(HOUR).replace('GMT', 'UTC') }],
  ['Expires without a day', { expires: date(HOUR).slice(5) }],
  ['two Expires', { expires: [date(HOUR), date(HOUR)] }],
  ['an Age beyond max-age', { 'cache-control': 'max-age=60', age: '61' }],
  ['a Date beyond max-age', { 'cache-control': 'max-age=60', date: date(-HOUR) }],
  ['Set-Cookie', { 'cache-control': 'max-age=60', 'set-cookie': 'a=1' }],
  ['Vary: *', { 'cache-control': 'max-age=60', vary: '*' }],
  ['* among others in Vary', { 'cache-control': 'max-age=60', vary: 'accept, *' }],
  ['a 206', { 'cache-control': 'max-age=60', 'content-range': 'bytes 0-3/9' }, 206],
  ['must-understand with a status nobody knows', { 'cache-control': 'max-age=60, must-understand' }, 299],
  ['an authorized request', { 'cache-control': 'max-age=60' }, 200, { headers: { authorization: 'Bearer a' } }],
  ['a max-age in words', { 'cache-control': 'max-age=one' }],
  ['a max-age without a number', { 'cache-control': 'max-age' }],
  ['an empty max-age', { 'cache-control': 'max-age=' }],
  ['no-store in the second line', { 'cache-control': ['max-age=60', 'no-store'] }],
  ['Vary: * in the second line', { 'cache-control': 'max-age=60', vary: ['accept', '*'] }],
  ['Expires of nonsense', { expires: 'tomorrow' }],
  ['Expires of two digits for the hour of 24', { expires: 'Fri, 20 Nov 2099 24:00:00 GMT' }],
  ['Expires that equals Date', { expires: date(HOUR), date: date(HOUR) }],
  ['the first of two Ages beyond max-age', { 'cache-control': 'max-age=60', age: '100, 0' }],
  ['Pragma: no-cache beside nothing', { pragma: 'no-cache' }],
  forbiddingCdnCacheControl('no-store'),
  forbiddingCdnCacheControl('no-store, max-age=60'),
  forbiddingCdnCacheControl('private'),
  forbiddingCdnCacheControl('no-cache, max-age=60'),
  forbiddingCdnCacheControl('max-age=0'),
  forbiddingCdnCacheControl('max-age=60, max-age=0'),
  forbiddingCdnCacheControl('s-maxage=0, max-age=60'),
  forbiddingCdnCacheControl('max-age=-5'),
  forbiddingCdnCacheControl('public'),
  forbiddingCdnCacheControl('must-revalidate;x=1'),
];
