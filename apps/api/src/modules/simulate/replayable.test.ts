import { randomUUID } from 'node:crypto';
import type { AclDoc } from '@edgeloom/contract/edge/module-doc.ts';
import type { EdgeDoc, HostDoc, SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import type { ReplayGap } from '@edgeloom/contract/simulate/replay.ts';
import { expect, test } from 'vitest';
import { requestOf, withoutUnreplayableRules } from './replayable.ts';

const nothing = { isQueryMasked: false, areRegionsUnknown: false };
const limit = { id: randomUUID(), urlRegex: '', type: 1, header: '', status: 929, monitor: false } as const;
const site: SiteDoc = {
  kind: 'site',
  id: randomUUID(),
  status: 'normal',
  cacheVersion: 1,
  cacheRules: [],
  staleIfError: 0,
};

function replayed(doc: EdgeDoc, over: Partial<typeof nothing> = {}) {
  const gaps = new Set<ReplayGap>();
  return { doc: withoutUnreplayableRules(doc, { ...nothing, ...over }, gaps), gaps: [...gaps] };
}

test('limits, and headers that are not logged, are left out and named', () => {
  const antiHeader = { id: randomUUID(), operator: 'exists', value: '', action: 'deny' } as const;
  const result = replayed({
    ...site,
    frequencies: [{ ...limit, seconds: 60, times: 1 }],
    antiHeaders: [
      { ...antiHeader, name: 'x-robot' },
      { ...antiHeader, name: 'user-agent' },
    ],
  });
  expect(result.gaps.toSorted()).toEqual(['headers', 'limits']);
  expect(result.doc).toEqual({ ...site, antiHeaders: [{ ...antiHeader, name: 'user-agent' }] });
});

// Regression: a replay counted from the present counters of one node, and judged by its verdicts.
test('concurrency limits, and rules for crawlers that need a count or a verdict, are left out and named', () => {
  const crawler = { id: randomUUID(), action: 'block', monitor: false, category: 'seo' } as const;
  const result = replayed({
    ...site,
    limitConns: [{ ...limit, max: 1 }],
    maxConnections: 1,
    crawlers: [
      crawler,
      { ...crawler, category: 'monitoring', action: 'limit', perMinute: 1 },
      { ...crawler, category: 'search', action: 'challenge' },
      { ...crawler, category: 'impostor' },
    ],
  });
  expect(result.gaps.toSorted()).toEqual(['bots', 'limits']);
  expect(result.doc).toEqual({ ...site, crawlers: [crawler] });
});

test('a document with rules that the log tells enough about stays as it is', () => {
  const doc: SiteDoc = { ...site, userAgents: [{ id: randomUUID(), pattern: 'curl', blockType: 0 }] };
  expect(replayed(doc)).toEqual({ doc, gaps: [] });
});

test('a host loses its tokens and its script', () => {
  const modules = { acl: randomUUID(), tokenAuth: randomUUID(), luaAcl: randomUUID() };
  const host: HostDoc = {
    kind: 'host',
    name: 'www.example.com',
    domainID: randomUUID(),
    siteID: site.id,
    cacheVersion: 1,
    certID: null,
    modules,
    origin: {
      scheme: 'http',
      portMap: [],
      host: null,
      sni: null,
      method: 'roundRobin',
      maxFails: 0,
      failTimeoutSeconds: 1,
      connectTimeoutSeconds: 1,
      readTimeoutSeconds: 1,
      upstreams: [{ id: randomUUID(), address: '192.0.2.1', port: 80, weight: 1, backup: false }],
    },
  };
  expect(replayed(host)).toMatchObject({ doc: { modules: { acl: modules.acl } }, gaps: ['tokens', 'scripts'] });
  expect(replayed(host).doc).not.toHaveProperty('modules.tokenAuth');
});

const condition = { operator: 'exists', negated: false, lower: false } as const;
const ruleOn = (
  field: string,
  name?: string,
  over: Partial<AclDoc['rules'][number]> = {},
): AclDoc['rules'][number] => ({
  id: randomUUID(),
  name: 'Rule',
  any: [[{ ...condition, field, ...(name && { name }) }]],
  action: 'deny',
  monitor: false,
  matchesAtLimit: true,
  ...over,
});
const acl = (...rules: AclDoc['rules']): AclDoc => ({ kind: 'module', id: randomUUID(), module: 'acl', rules });

test.each([
  ['header', 'x-key', ['headers']],
  ['header', 'user-agent', []],
  ['cookie', 'session', ['cookies']],
  ['bodyText', undefined, ['bodies']],
  ['httpVersion', undefined, ['connections']],
  ['botState', undefined, ['bots']],
  ['bot', undefined, []],
  ['arg', 'q', []],
  ['path', undefined, []],
])('an access rule about %s %s leaves out %j', (field, name, gaps) => {
  const [unsure, sure] = [ruleOn(field, name), ruleOn('ip')];
  const result = replayed(acl(unsure, sure));
  expect(result.gaps).toEqual(gaps);
  expect(result.doc).toMatchObject({ rules: gaps.length > 0 ? [sure] : [unsure, sure] });
});

test('an access rule about a masked query is left out', () => {
  expect(replayed(acl(ruleOn('arg', 'q')), { isQueryMasked: true })).toMatchObject({
    doc: { rules: [] },
    gaps: ['query'],
  });
});

// Once, a rule about regions matched nobody, or everybody that is not there, where the nodes have no geo pack.
test('where the nodes know no regions, access rules about them are left out, and region rules are named', () => {
  const unknown = { areRegionsUnknown: true };
  const [country, ip] = [ruleOn('country'), ruleOn('ip')];
  expect(replayed(acl(country, ip), unknown)).toMatchObject({ doc: { rules: [ip] }, gaps: ['regions'] });
  expect(replayed(acl(country, ip)).gaps).toEqual([]);
  const geos = [{ id: randomUUID(), isBlack: true, continents: [], countries: ['TW'], provinces: [], blockType: 0 }];
  expect(replayed({ ...site, geos }, unknown).gaps).toEqual(['regions']);
});

// Regression: a masked log has Referer only up to its query, so rules about it matched too often or never.
test('where queries are masked, rules about Referer are left out', () => {
  const rules = [ruleOn('referer'), ruleOn('header', 'referer'), ruleOn('header', 'user-agent')];
  const masked = { isQueryMasked: true };
  expect(replayed(acl(...rules), masked)).toMatchObject({ doc: { rules: rules.slice(2) }, gaps: ['query'] });
  expect(replayed(acl(...rules)).gaps).toEqual([]);
  const about = (name: string) =>
    ({ id: randomUUID(), name, operator: 'contains', value: 'q=1', action: 'deny' }) as const;
  const [referer, userAgent] = [about('referer'), about('user-agent')];
  const result = replayed({ ...site, antiHeaders: [referer, userAgent] }, masked);
  expect(result).toEqual({ doc: { ...site, antiHeaders: [userAgent] }, gaps: ['query'] });
});

test('access rules after an allow rule that cannot be replayed are left out', () => {
  const [first, second] = [ruleOn('ip'), ruleOn('path')];
  const allow = ruleOn('cookie', 'staff', { action: 'allow' });
  expect(replayed(acl(first, allow, second)).doc).toMatchObject({ rules: [first] });
  expect(replayed(acl(first, { ...allow, monitor: true }, second)).doc).toMatchObject({ rules: [first, second] });
});

const row = {
  address: '203.0.113.7',
  country: 'TW',
  method: 'GET',
  scheme: 'https',
  host: 'www.example.com',
  port: 443,
  uri: '/',
  args: '',
  userAgent: '',
  referer: '',
  requests: 1,
};

test('a decoded path is encoded again, and header values are sent as UTF-8 bytes', () => {
  const request = requestOf({ ...row, port: 8443, uri: '/圖 片/a?b', args: 'q=a b', userAgent: 'é' });
  expect(request).toEqual({
    scheme: 'https',
    port: 8443,
    method: 'GET',
    host: 'www.example.com:8443',
    path: '/%E5%9C%96%20%E7%89%87/a%3Fb?q=a%20b',
    headers: [['User-Agent', 'Ã©']],
    ip: '203.0.113.7',
  });
});

test.each([
  ['an unknown method', { method: 'PROPFIND' }],
  ['a path that may have several forms', { uri: '/a%2fb' }],
  ['a path that was cut', { uri: `/${'a'.repeat(2047)}` }],
  ['a path that is too long when it is encoded', { uri: `/${'圖'.repeat(1000)}` }],
  ['a user agent that was cut', { userAgent: 'a'.repeat(512) }],
  ['a control character', { referer: 'a\u0001' }],
  ['a byte that is no UTF-8', { userAgent: '\ufffd' }],
])('a row with %s is not replayed', (_, over) => {
  expect(requestOf({ ...row, ...over })).toBeNull();
});
