// Lines of access logs of all kinds that nodes write, from a seed.
import type { Place, SentLine } from '../fakes/access-log-oracle.ts';
import type { SeededRandom } from './seeded-random.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const places: Readonly<Record<string, Place>> = {
  '192.0.2': { country: 'TW', province: 'TW-TPE', isp: 'Chunghwa' },
  '198.51.100': { country: 'JP', province: '', isp: 'IIJ "Net"' },
  '203.0.113': { country: '', province: '', isp: '' },
};
/** Documentation networks have no country, so these have some. */
export const locate = (address: string): Place =>
  places[address.split('.').slice(0, 3).join('.')] ?? { country: 'US', province: 'California', isp: '' };

const networks = ['192.0.2.', '198.51.100.', '203.0.113.', '2001:db8::'] as const;
const methods = [
  'GET',
  'GET',
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PURGE',
  'PROPFIND',
  '',
] as const;
const versions = ['HTTP/2.0', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/3.0', ''] as const;
const statuses = [
  200, 200, 200, 101, 204, 206, 301, 302, 304, 400, 403, 404, 405, 414, 429, 444, 499, 500, 502, 503, 504, 599, 600,
  899, 900, 903, 904, 929, 930, 999,
] as const;
const caches = ['', '', 'HIT', 'HIT', 'HIT', 'MISS', 'EXPIRED', 'STALE', 'UPDATING', 'REVALIDATED', 'BYPASS'] as const;
const upstreams = ['', '', '192.0.2.80:80', '192.0.2.80:80, [2001:db8::80]:443 (origin.example.com)'] as const;
const aclRule = '018f0000-0000-7000-8000-00000000000a';
/** Causes with their rules: refusals, redirects, and rules that only monitor. */
const decisions = [
  ['', ''],
  ['', ''],
  ['', ''],
  ['acl', aclRule],
  ['acl', `monitor/${aclRule}`],
  ['waf', '942100'],
  ['waf', '941110'],
  ['waf', 'monitor/942100'],
  ['urlRedirect', aclRule],
  ['antiCC', 'monitor/rate'],
  ['frequency', aclRule],
  ['blacklist', ''],
  ['siteLimits', ''],
] as const;
const referers = [
  '',
  '',
  'https://search.example/?q=a#b',
  'https://search.example/#b?q=a',
  'https://社群.example/文章?p=1',
  '?only',
  '"><script>',
  "'; DROP TABLE access_log; --\\",
] as const;
const characters = ['a', '文', '😀'] as const;

function uriOf(random: SeededRandom): string {
  const number = Math.floor(random.next() * 40);
  // Paths longer than the values that are kept. They differ at their end, and are the same where they are cut.
  if (random.is(0.05)) return `/${random.one(characters).repeat(600)}${number}`;
  return random.one([
    '/',
    `/item/${number}`,
    `/圖片/${number}.jpg`,
    `/a\tb\\c\n"${number}"`,
    `/nul\0${number}`,
    `/%E3%81%82/${number}`,
    '/"relayed":true',
    '',
  ]);
}

/** Half are of the last six hours, so that short times have some. Few are in the future, or late by weeks. */
function timeOf(random: SeededRandom, now: number): number {
  if (random.is(0.02)) return now + random.next() * 2 * HOUR_MS;
  const longest = random.one([6 * HOUR_MS, 6 * HOUR_MS, 2 * DAY_MS, 8 * DAY_MS, 30 * DAY_MS]);
  return now - random.next() * longest;
}

/** `sites`: with the domains that their lines may have; an unknown site is one without. */
export function randomLine(
  random: SeededRandom,
  now: number,
  sites: readonly [SentLine['site'], readonly [string, ...string[]]][],
): SentLine {
  const [site, domains] = sites[Math.floor(random.next() * sites.length)] ?? ['', ['']];
  const [cause, rule] = random.one(decisions);
  const id = Array.from({ length: 4 }, () =>
    Math.floor(random.next() * 2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  );
  return {
    time: Math.round(timeOf(random, now)) / 1000,
    id: id.join(''),
    site,
    domain: random.one(domains),
    host: random.one(['www.example.com', 'a.example', '']),
    address: `${random.one(networks)}${1 + Math.floor(random.next() * 150)}`,
    method: random.one(methods),
    httpVersion: random.one(versions),
    uri: uriOf(random),
    status: random.one(statuses),
    bytes: random.is(0.01) ? 2 ** 33 : Math.floor(random.next() * 100_000),
    upstream: random.one(upstreams),
    cache: random.one(caches),
    referer: random.one(referers),
    cause,
    rule,
    ...(random.is(0.05) && { relayed: true as const }),
  };
}

/** Texts that are no lines of a log, or have values that none has. */
export const unreadableLines = (line: string): string[] => [
  '{"time":',
  'null',
  '[]',
  line.replace(/"status":\d+/, '"status":1000'),
  line.replace(/"status":\d+/, '"status":000'),
  line.replace(/"bytes":\d+/, '"bytes":-1'),
  line.replace(/"id":"\w+"/, '"id":"none"'),
  line.replace(/"address":"[^"]+"/, '"address":"fe80::1%eth0"'),
  line.replace(/"address":"[^"]+"/, '"address":"unix:"'),
  line.replace(/"method":"[^"]*",/, ''),
];
