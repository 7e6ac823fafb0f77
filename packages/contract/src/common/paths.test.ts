import { describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { AclRuleInput } from '../acl/acl.ts';
import { CacheRuleInput } from '../cache/cache.ts';
import { AddressListInput, comparedListURL, GeoRuleInput } from '../firewall/firewall.ts';
import { AntiRefererInput } from '../hotlink/hotlink.ts';
import { FrequencyInput } from '../limits/limits.ts';
import { RewriteRule } from '../modules/proxy-rewrites.ts';
import { RedirectInput } from '../modules/redirects.ts';
import { TokenAuthItem } from '../modules/token-auths.ts';
import { RateInput } from '../rates/rates.ts';
import { SiteAntiCCInput } from '../site-anti-cc/site-anti-cc.ts';
import { WafException } from '../waf/waf.ts';
import { ZoneAntiCCInput } from '../zone-anti-cc/zone-anti-cc.ts';
import {
  comparedValues,
  decodedPath,
  isAboutPath,
  pathError,
  pathKey,
  pathOfKey,
  pathPatternError,
  PathPrefix,
  type Paths,
} from './paths.ts';

describe('a path', () => {
  test.each([
    ['/%E4%BB%98%E8%B2%BB/', '/付費/', '/付費/'],
    ['/付費/', '/付費/', '/付費/'],
    ['/my%20docs/a.pdf', '/my%20docs/a.pdf', '/my docs/a.pdf'],
    ['/my docs/a.pdf', '/my%20docs/a.pdf', '/my docs/a.pdf'],
    ['/%61%2Fb', '/a/b', '/a/b'],
    ['/100%25', '/100%25', '/100%'],
    ['/a%2520b', '/a%2520b', '/a%20b'],
    ['/why%3f%23%2a', '/why%3F%23%2A', '/why?#*'],
    ['/a+b,c&d=1', '/a+b,c&d=1', '/a+b,c&d=1'],
  ])('%s is stored as %s and compared as %s', (text, stored, compared) => {
    expect(PathPrefix.parse(text)).toBe(stored);
    expect(PathPrefix.parse(stored)).toBe(stored);
    expect(decodedPath(stored)).toBe(compared);
  });

  test.each([
    ['static/', 'a path starts with / and names no host'],
    ['https://www.example.com/a', 'a path starts with / and names no host'],
    ['/a?b=1', 'a path contains no ? and no #'],
    ['/a#b', 'a path contains no ? and no #'],
    ['/static/*', 'a path contains no wildcard'],
    ['/100%', 'a path contains only escapes in UTF-8'],
    ['/%B8%B6', 'a path contains only escapes in UTF-8'],
    ['//img', 'a path contains no empty and no dot segments'],
    ['/a%2F/b', 'a path contains no empty and no dot segments'],
    ['/a/%2e%2e/b', 'a path contains no empty and no dot segments'],
    ['/a/..', 'a path contains no empty and no dot segments'],
    ['/a%0d', 'wrong format'],
    ['/\ud800', 'wrong format'],
    [`/${' '.repeat(1000)}`, 'too long'],
  ])('%s is refused, since no request has it', (text, reason) => expect(pathError(text)).toBe(reason));

  test('may have escapes of other encodings where these are compared, but no stray %', () => {
    expect(pathError('/%B2%FA%2f', 'whole', 'any')).toBeNull();
    expect(pathError('/%B2%', 'whole', 'any')).toBe('a path contains only escapes in UTF-8');
    expect(pathError('/%B2/%2e%2e/', 'whole', 'any')).toBe('a path contains no empty and no dot segments');
  });

  test.each([
    ['/%b2%FA%2f', '%/%B2%FA/'],
    ['/%25B2', '/%B2'],
    ['/%B2/%25b2%3f', '%/%B2/%25b2%3F'],
    ['/中 %b2', '%/%E4%B8%AD %B2'],
    ['/%E4%B8%AD%20%B2', '%/%E4%B8%AD %B2'],
    ['/why%3F%25', '/why?%'],
  ])('%s has the key %s, which no other path has', (text, key) => {
    expect(pathKey(text)).toBe(key);
    expect(pathKey(pathOfKey(key))).toBe(key);
  });

  test('may begin within a segment that starts with dots', () => {
    expect(pathError('/.', 'start')).toBeNull();
    expect(pathError('/a/..', 'start')).toBeNull();
    expect(pathError('/a/../', 'start')).not.toBeNull();
  });
});

describe('a pattern over the path', () => {
  test.each([
    '^/static/.*\\.js$',
    '\\.(?:jpg|png)$',
    '^/商品/',
    '\\.jpg(?:\\?.*)?$',
    '\\.jpg\\??',
    '^(?:www\\.)?/a',
    '^\\/a',
    '^.a',
    '^x?/a',
    '^[/x]a',
    'jquery\\.min\\.js',
    'v1\\.2/a',
    'github\\.com/',
    'www\\.a\\.com',
    'setup\\.com$',
    '%2e%2e',
    '%00',
    '^www|^/a',
    '^(?:www|/)a',
    '^(?:www\\.)*(?:m{0}|x)?/a',
    '^(?:a|b?)[^a-z]c',
    '(^www|m)\\.a',
    '(?:^a)?b',
    '^\\W\\w',
    '^\\x2fa',
    '^a*',
    '^\\b',
    '100%',
    '[%af]0',
    '.*',
  ])('is accepted: %s', (pattern) => expect(pathPatternError(pattern)).toBeNull());

  test.each([
    ['^shop\\.example\\.com\\/x', 'a path starts with / and names no host'],
    ['^https?://a/', 'a path starts with / and names no host'],
    ['^images/', 'a path starts with / and names no host'],
    ['^//img', 'a path starts with / and names no host'],
    ['^(img|css)/', 'a path starts with / and names no host'],
    ['^(?:www|(?:m|shop))\\.a\\.com/', 'a path starts with / and names no host'],
    ['^images/|^css/', 'a path starts with / and names no host'],
    ['(^img|^css)/', 'a path starts with / and names no host'],
    ['^[a-z-]+/x', 'a path starts with / and names no host'],
    ['^\\w+\\.example\\.com/', 'a path starts with / and names no host'],
    ['^\\.jpg$', 'a path starts with / and names no host'],
    ['^\\s*images/', 'a path starts with / and names no host'],
    ['^$', 'a path starts with / and names no host'],
    ['\\.jpg\\?v=', 'a pattern of the path contains no query'],
    ['^/my%20docs/', 'a pattern of the decoded path contains no escapes'],
    ['(a+)+', 'a repeat within a repeat is not accepted'],
  ])('is refused, since no path matches: %s', (pattern, reason) => expect(pathPatternError(pattern)).toBe(reason));
});

test.each<[Paths, string, boolean]>([
  [{ type: 'prefix', value: ['/%E4%BB%98'] }, '/付費', true],
  [{ type: 'url', value: ['/a%20b'] }, '/a b', true],
  [{ type: 'url', value: ['/50%'] }, '/50%', true],
  [{ type: 'fileType', value: ['tar.gz'] }, '/dl/a.TAR.gz', true],
  [{ type: 'fileType', value: ['GZ'] }, '/dl/a.tar.gz', true],
  [{ type: 'fileType', value: ['tar.gz'] }, '/dl/tar.gz', false],
  [{ type: 'fileType', value: ['tar.gz'] }, '/dl.tar/gz', false],
  [{ type: 'fileType', value: ['gz'] }, '/dl.gz/a', false],
])('%j applies to %s: %s', (rule, path, applies) => expect(isAboutPath(rule, path)).toBe(applies));

// Each place that takes a path.
const escaped = ['/%E4%BB%98/', '/my docs/'];
const stored = ['/付/', '/my%20docs/'];
const prefixes = { type: 'prefix' as const, value: escaped };
const token = {
  parts: [{ name: 'a', format: '{time}-{sign}' }],
  text: '{path}{time}{key}',
  algorithm: 'md5',
  keys: [{ key: 'secret' }],
};
const referer = { isBlack: false, referers: ['a.example'] };
const onPath = (operator: string, value: unknown) => ({ field: 'path', operator, value });
const aclRule = (...conditions: object[]) => ({ name: 'a', action: 'deny', conditions });

test.each<[string, z.ZodType, object, object]>([
  ['cache', CacheRuleInput, { ...prefixes, cacheTime: 1 }, { value: stored }],
  ['rates', RateInput, { ...prefixes, rate: 1 }, { value: stored }],
  ['hotlink', AntiRefererInput, { ...referer, ...prefixes }, { value: stored }],
  ['tokens', TokenAuthItem, { ...token, ...prefixes, except: prefixes }, { value: stored, except: { value: stored } }],
  ['tokens by type', TokenAuthItem, { ...token, type: 'fileType', value: ['TAR.gz'] }, { value: ['tar.gz'] }],
  [
    'lists',
    AddressListInput,
    { ips: ['192.0.2.1'], url: ['https://A.com/%E4%BB%98*'] },
    { url: ['https://A.com/付*'] },
  ],
  [
    'lists with a host of another script',
    AddressListInput,
    { ips: ['192.0.2.1'], url: ['https://Shop.例え.jp/%E4%BB%98'] },
    { url: ['https://shop.xn--r8jz45g.jp/付'] },
  ],
  ['WAF', WafException, { path: '/%E4%BB%98' }, { path: '/付' }],
])('%s: paths are stored in one form', (_, schema, input, expected) => {
  const read = schema.safeParse(input);
  expect(read.data).toMatchObject(expected);
  expect(schema.parse(read.data)).toEqual(read.data);
});

test('conditions on the path are stored in one form', () => {
  const rule = AclRuleInput.parse(aclRule(onPath('startsWith', '/%E4%BB%98'), onPath('notIn', escaped)));
  expect(rule.conditions.map(({ value }) => value)).toEqual(['/付', stored]);
});

test.each<[string, string, unknown, unknown]>([
  ['uri', 'startsWith', '/付費/my docs', '/%E4%BB%98%E8%B2%BB/my%20docs'],
  ['uri', 'in', ['/é', '/%e4'], ['/%C3%A9', '/%e4']],
  ['uri', 'matches', '^/付(?:a b)?', '^/%E4%BB%98(?:a b)?'],
  ['args', 'contains', 'q=付', 'q=%E4%BB%98'],
  ['host', 'equal', 'Shop.例え.jp', 'shop.xn--r8jz45g.jp'],
  ['host', 'endsWith', '.例え.jp', '.xn--r8jz45g.jp'],
  ['host', 'endsWith', 'shop.例え.jp', 'shop.xn--r8jz45g.jp'],
  ['host', 'startsWith', '例え.', 'xn--r8jz45g.'],
  ['host', 'contains', '.例え.', '.xn--r8jz45g.'],
  ['host', 'notIn', ['A.example', 'Bücher.example'], ['a.example', 'xn--bcher-kva.example']],
  ['method', 'equal', 'post', 'POST'],
  ['method', 'in', ['get', 'purge'], ['GET', 'purge']],
  ['arg:q', 'equal', '付 ', '付 '],
])('conditions on %s (%s) are stored as requests have them', (field, operator, value, expected) => {
  const rule = AclRuleInput.parse(aclRule({ field, operator, value }));
  expect(rule.conditions[0]?.value).toEqual(expected);
  expect(AclRuleInput.parse(aclRule({ field, operator, value: expected })).conditions).toEqual(rule.conditions);
});

test.each<[string, z.ZodType, object, string]>([
  ['cache', CacheRuleInput, { type: 'prefix', value: ['/a/', '/a/*'], cacheTime: 1 }, 'value.1'],
  ['cache by type', CacheRuleInput, { type: 'fileType', value: ['*.jpg'], cacheTime: 1 }, 'value.0'],
  ['rates', RateInput, { type: 'regex', value: ['^www'], rate: 1 }, 'value.0'],
  ['hotlink', AntiRefererInput, { ...referer, type: 'url', value: ['//a'] }, 'value.0'],
  ['tokens', TokenAuthItem, { ...token, type: 'url', value: ['/a?b'] }, 'value.0'],
  ['exceptions of tokens', TokenAuthItem, { ...token, except: { type: 'url', value: ['a'] } }, 'except.value.0'],
  ['frequencies', FrequencyInput, { seconds: 1, times: 1, urlRegex: '^www' }, 'urlRegex'],
  ['anti-CC', SiteAntiCCInput, { urlRegex: '\\?a=' }, 'urlRegex'],
  ['regions', GeoRuleInput, { geoIDs: ['country-TW'], urlRegex: '/%20' }, 'urlRegex'],
  ['ACL', AclRuleInput, aclRule(onPath('equal', 'a')), 'conditions.0.value'],
  ['ACL lists', AclRuleInput, aclRule(onPath('in', ['/a', '/b*'])), 'conditions.0.value.1'],
  ['ACL parts', AclRuleInput, aclRule(onPath('endsWith', 'a?b')), 'conditions.0.value'],
  [
    'ACL hosts',
    AclRuleInput,
    aclRule({ field: 'host', operator: 'equal', value: 'https://a.com' }),
    'conditions.0.value',
  ],
  // Punycode is of whole labels: a part of one would never match, and notContains would match every request.
  ...['startsWith', 'contains', 'notContains', 'endsWith', 'matches'].map(
    (operator): [string, z.ZodType, object, string] => [
      `ACL hosts, ${operator}`,
      AclRuleInput,
      aclRule({ field: 'host', operator, value: '例え' }),
      'conditions.0.value',
    ],
  ),
  [
    'ACL hosts in a list',
    AclRuleInput,
    aclRule({ field: 'host', operator: 'in', value: ['a.com', 'a.com:80'] }),
    'conditions.0.value.1',
  ],
  ['ACL patterns', AclRuleInput, aclRule(onPath('matches', '^a')), 'conditions.0.value'],
  [
    'ACL extensions',
    AclRuleInput,
    aclRule({ field: 'fileExtension', operator: 'in', value: ['gz', 'tar.gz'] }),
    'conditions.0.value.1',
  ],
  ['ACL states', AclRuleInput, aclRule({ field: 'botState', operator: 'equal', value: 'true' }), 'conditions.0.value'],
  [
    'ACL categories',
    AclRuleInput,
    aclRule({ field: 'botCategory', operator: 'notIn', value: ['Search', 'ai'] }),
    'conditions.0.value.1',
  ],
  ['lists', AddressListInput, { ips: ['192.0.2.1'], url: ['/a/*/b'] }, 'url.0'],
  ['ports in lists', AddressListInput, { ips: ['192.0.2.1'], url: ['https://a.example:8443/a'] }, 'url.0'],
  ['wildcards in lists', AddressListInput, { ips: ['192.0.2.1'], url: ['https://*.a.example/a'] }, 'url.0'],
  ['hosts in lists', AddressListInput, { ips: ['192.0.2.1'], url: ['https://a..example/a'] }, 'url.0'],
  ['WAF', WafException, { path: '//a' }, 'path'],
  ['rewrites', RewriteRule, { type: 'prefix', source: '/a/*', target: '/' }, 'source'],
  ['patterns of rewrites', RewriteRule, { type: 'regex', source: '^a', target: '/' }, 'source'],
  ['redirects', RedirectInput, { type: 'prefix', source: 'a.example/a/*', target: '/' }, 'source'],
  ['patterns of redirects', RedirectInput, { type: 'regex', source: '^a\\.com/', target: '/' }, 'source'],
])('%s: what never matches is refused at its field', (_, schema, input, field) => {
  expect(schema.safeParse(input).error?.issues.map(({ path }) => path.join('.'))).toEqual([field]);
});

test('exemptions from challenges are paths, too', () => {
  const { paths } = ZoneAntiCCInput.shape;
  expect(paths.parse(escaped)).toEqual(stored);
  expect(paths.safeParse(['/a', '/b/*']).error?.issues.map(({ path }) => path)).toEqual([[1]]);
});

test('hosts of lists are compared in punycode, and may be addresses', () => {
  const url = ['https://Shop.例え.jp/a*', 'http://192.0.2.1/', 'https://a_b.example/x'];
  expect(AddressListInput.parse({ ips: ['192.0.2.1'], url }).url.map((one) => comparedListURL(one).host)).toEqual([
    'shop.xn--r8jz45g.jp',
    '192.0.2.1',
    'a_b.example',
  ]);
});

test('rows of older versions are compared decoded, and types in lower case', () => {
  expect(comparedValues({ type: 'prefix', value: ['/%E4%BB%98/', '/50%'] })).toEqual(['/付/', '/50%']);
  expect(comparedValues({ type: 'fileType', value: ['JPG'] })).toEqual(['jpg']);
  expect(comparedValues({ type: 'regex', value: ['%20'] })).toEqual(['%20']);
});
