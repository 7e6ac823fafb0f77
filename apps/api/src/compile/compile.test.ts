import { createDecipheriv } from 'node:crypto';
import path from 'node:path';
import { parseDoc } from '@edgeloom/contract/edge/documents.ts';
import { open, type ZoneFirewall } from '@edgeloom/contract/zone-firewall/zone-firewall.ts';
import type { EdgeDoc } from '@edgeloom/contract/edge/documents.ts';
import { describe, expect, test } from 'vitest';
import { cacheRuleDocs, type CacheRuleRow } from './cache-rules.ts';
import { certDoc } from './cert.ts';
import { errorPageDocs } from './error-pages.ts';
import { hostDoc } from './host.ts';
import type { HostRow } from './host.ts';
import { nodeDoc } from './node.ts';
import { portDoc } from './port.ts';
import type { PortRow } from './port.ts';
import { siteDoc } from './site.ts';
import { zoneDoc } from './zone.ts';

const id = (n: number) => `01930000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const policy = { deny: ['127.0.0.0/8', '10.0.0.0/8'], allow: ['10.1.0.0/16'] };
const zoneKey = { id: 'first' as const, key: Buffer.alloc(32, 7) };

const rule = (n: number, more: Partial<CacheRuleRow> = {}): CacheRuleRow => ({
  id: id(n),
  type: 'fileType',
  value: ['css', 'js'],
  cacheTime: 600,
  honourOrigin: false,
  minTime: null,
  maxTime: null,
  browserTime: null,
  staleWhileRevalidate: null,
  staleIfError: null,
  query: 'all',
  queryNames: [],
  cookies: 'none',
  cookieNames: [],
  passCookies: [],
  stripCookies: false,
  slices: false,
  overrideOrigin: false,
  ...more,
});
const host: HostRow = {
  name: 'www.example.com',
  domainId: id(1),
  siteId: id(2),
  cacheVersion: 3,
  certificateId: id(4),
  scheme: 'follow',
  portMap: [
    { from: 443, to: 8443 },
    { from: 80, to: 8080 },
  ],
  hashType: 'roundRobin',
  hostReplace: 'origin.example.com',
  sni: null,
  originVerify: true,
  originCertificateId: id(7),
  slowStartSeconds: 30,
  healthCheck: {
    path: '/health',
    host: null,
    intervalSeconds: 10,
    timeoutSeconds: 3,
    statusFrom: 200,
    statusTo: 399,
    fails: 3,
    passes: 2,
  },
  forceSsl: true,
  minTls: 'TLSv1.2',
  hstsMaxAgeSeconds: 31_536_000,
  hstsIncludeSubdomains: true,
  hstsPreload: false,
  maxFails: 3,
  failTimeoutSeconds: 10,
  connectTimeoutSeconds: 5,
  readTimeoutSeconds: 60,
  websocketTimeoutSeconds: 3600,
  upstreams: [
    { id: id(12), address: '192.0.2.2', port: 8080, weight: 5, backup: true, enabled: true },
    { id: id(11), address: '192.0.2.1', port: 8080, weight: 10, backup: false, enabled: true },
    { id: id(13), address: '192.0.2.3', port: 8080, weight: 10, backup: false, enabled: false },
  ],
  antiReferers: [
    {
      id: id(31),
      isBlack: false,
      referers: ['**.example.com'],
      allowEmpty: true,
      type: 'fileType',
      value: ['mp4'],
      action: 'redirect',
      target: 'https://www.example.com/a//b%20c.png?x=1',
    },
  ],
  antiHeaders: [{ id: id(32), name: 'X-Robot', operator: 'exists', value: '', action: 'drop' }],
  modules: { cors: id(41), customHeader: id(40) },
};
const port: PortRow = {
  id: id(8),
  siteId: id(2),
  allow: ['192.0.2.0/24'],
  deny: ['203.0.113.7', '198.51.100.5-198.51.100.8', '2001:DB8::/32'],
  denyFirst: false,
  maxConns: 20,
  maskLogAddress: true,
  port: 8022,
  protocol: 'tcp',
  acceptProxy: false,
  sendProxy: true,
  method: 'leastConnections',
  maxFails: 3,
  failTimeoutSeconds: 10,
  connectTimeoutSeconds: 5,
  idleTimeoutSeconds: 600,
  upstreams: [
    { id: id(16), address: 'backend.example.com', port: 22, weight: 10, backup: true, enabled: true },
    { id: id(15), address: '2001:db8::1', port: 22, weight: 70, backup: false, enabled: true },
    { id: id(17), address: '192.0.2.3', port: 22, weight: 10, backup: false, enabled: false },
  ],
};
const cert = {
  id: id(5),
  names: ['www.example.com', 'example.com'],
  notAfter: new Date('2027-01-01T00:00:00Z'),
  pairs: [
    { keyType: 'rsa', chainPem: 'the RSA chain', keyPem: 'the RSA secret' },
    {
      keyType: 'ecdsa',
      chainPem: '-----BEGIN CERTIFICATE-----\nchain\n',
      keyPem: '-----BEGIN PRIVATE KEY-----\nsecret\n',
    },
  ],
};

const documents: [string, () => EdgeDoc | null][] = [
  [
    'zone',
    () =>
      zoneDoc(
        {
          id: id(9),
          forceSSLRedirectCode: 308,
          settings: {},
          relays: [
            { id: id(7), address: '203.0.113.7', port: 8443 },
            { id: id(6), address: '2001:db8::6', port: 9443 },
          ],
          ports: [
            { port: 443, tls: true },
            { port: 80, tls: false },
          ],
        },
        policy,
      ),
  ],
  [
    `site/${id(2)}`,
    () =>
      siteDoc({
        id: id(2),
        status: 'normal',
        cacheVersion: 1,
        maskLogAddress: true,
        maskLogQuery: true,
        ports: [8443, 8080],
        maxConnections: 500,
        responseMbps: 20,
        cacheSetting: {
          heuristics: true,
          staleIfError: 60,
          shield: true,
          checkContentType: false,
          passHeaders: ['x-forwarded-host', 'x-device'],
          setCookie: 'strip',
          honourVisitors: true,
          storePost: true,
        },
        compression: {
          gzip: true,
          brotli: false,
          types: ['text/css'],
          minBytes: 100,
          webp: true,
          webpQuality: 75,
          webpTypes: ['image/png'],
          webpMinBytes: 2000,
          webpMaxBytes: 1_000_000,
        },
        rules: {
          ...cacheRuleDocs([
            rule(24, { cacheTime: 0, type: 'url', value: ['/login'] }),
            rule(22),
            rule(21, { type: 'prefix', value: ['/img/'], query: 'listed', queryNames: ['v'] }),
            rule(25, {
              honourOrigin: true,
              minTime: 10,
              maxTime: 20,
              browserTime: 0,
              staleWhileRevalidate: 30,
              staleIfError: 0,
              cookies: 'listed',
              cookieNames: ['lang'],
              passCookies: ['session*'],
              stripCookies: true,
              slices: true,
              overrideOrigin: true,
            }),
          ]),
          rates: [{ id: id(33), type: 'fileType', value: ['iso'], rate: 512, after: 1024 }],
          ...errorPageDocs([
            { code: 403, type: 'redirect', value: 'https://www.example.com/why', edgeOnly: false },
            { code: 502, type: 'content', value: '<p>later</p>', edgeOnly: true },
            { code: 504, type: 'javascript', value: 'location.reload()', edgeOnly: false },
          ]),
        },
      }),
  ],
  ['host/www.example.com', () => hostDoc(host)],
  [`cert/${id(5)}`, () => certDoc(cert, zoneKey)],
  [`port/${id(8)}`, () => portDoc(port)],
  [
    `node/${id(6)}`,
    () =>
      nodeDoc({
        id: id(6),
        enabled: false,
        cacheMaxBytes: '1099511627776',
        cacheDir: '',
        drainEndsAt: new Date('2026-01-01T00:05:00Z'),
        portType: '7',
        logRotateSeconds: 3600,
        packetSize: 536,
        windowSize: null,
        kind: 'relay',
        relayPort: 8443,
      }),
  ],
];

describe.each(documents)('the document %s', (key, make) => {
  test('is as it always was, and the contract takes it', async () => {
    const body = JSON.stringify(make());
    expect(parseDoc(key, body)).toEqual(make());
    const file = path.join(import.meta.dirname, '__golden__', `${key.split('/')[0]}.json`);
    await expect(`${JSON.stringify(make(), null, 2)}\n`).toMatchFileSnapshot(file);
  });
  test('has the same bytes each time', () => {
    expect(JSON.stringify(make())).toBe(JSON.stringify(make()));
  });
});

test('the order in which the database gives rows does not matter', () => {
  const backwards = { ...host, upstreams: [...host.upstreams].reverse(), portMap: [...host.portMap].reverse() };
  expect(JSON.stringify(hostDoc(backwards))).toBe(JSON.stringify(hostDoc(host)));
});

test('HTTPS is not forced and HSTS is not sent without a certificate', () => {
  const { minTLS } = hostDoc(host)?.https ?? {};
  expect(hostDoc({ ...host, certificateId: null })?.https).toEqual({ force: false, hsts: null, minTLS });
});

test('a name whose origins are all switched off has no document', () => {
  expect(
    hostDoc({ ...host, upstreams: host.upstreams.map((upstream) => ({ ...upstream, enabled: false })) }),
  ).toBeNull();
});

test('a forward whose origins are all switched off has no document', () => {
  expect(portDoc({ ...port, upstreams: port.upstreams.filter(({ enabled }) => !enabled) })).toBeNull();
});

test('a private key opens with the key of its zone, in its own document only', () => {
  const { pairs } = certDoc(cert, zoneKey);
  const sealed = pairs[0]?.key;
  if (!sealed) throw new Error('no pair');
  expect(JSON.stringify(pairs)).not.toContain('secret');
  const open = (docKey: string, key = zoneKey.key) => {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(sealed.iv, 'base64'))
      .setAAD(Buffer.from(docKey))
      .setAuthTag(Buffer.from(sealed.tag, 'base64'));
    return Buffer.concat([decipher.update(Buffer.from(sealed.data, 'base64')), decipher.final()]).toString();
  };
  expect(open(`cert/${id(5)}`)).toBe(cert.pairs[1]?.keyPem);
  expect(() => open(`cert/${id(6)}`)).toThrow();
  expect(() => open(`cert/${id(5)}`, Buffer.alloc(32, 8))).toThrow();
  expect(sealed).not.toHaveProperty('keyID');
  expect(certDoc(cert, { ...zoneKey, id: id(9) }).pairs[0]?.key).toEqual({ ...sealed, keyID: id(9) });
  const other = [{ keyType: 'ecdsa', chainPem: 'chain', keyPem: 'other' }];
  expect(certDoc({ ...cert, pairs: other }, zoneKey).pairs[0]?.key.iv).not.toBe(sealed.iv);
});

test('an allow list of all IPv4 addresses is written in networks that earlier agents accept', () => {
  const whitelistOf = (whitelist: string[]) => {
    const settings = { firewall: { ...open, blacklist: ['192.0.2.1'], whitelist } };
    return zoneDoc({ id: id(9), forceSSLRedirectCode: 301, settings, relays: [], ports: [] }, policy).firewall
      ?.whitelist;
  };
  const large = Array.from({ length: 256 }, (_, first) => `${first}.0.0.0/8`);
  expect(whitelistOf(['203.0.113.7', '198.51.100.7/0', '2001:db8::/32'])).toEqual(['2001:db8::/32', ...large]);
  expect(whitelistOf(['203.0.113.7', '::/0'])).toEqual(['203.0.113.7', '::/0']);
});

test('a zone behind proxies trusts their header, and no more', () => {
  const docOf = (settings: unknown) =>
    zoneDoc({ id: id(9), forceSSLRedirectCode: 301, settings, relays: [], ports: [{ port: 443, tls: true }] }, policy);
  const custom = { proxy: 'custom', networks: ['192.0.2.0/24'], header: 'X-Real-IP' };
  const listed = docOf({ visitorAddress: custom, firewall: { whitelist: ['203.0.113.7'], blacklist: ['192.0.2.1'] } });
  expect(listed).toMatchObject({
    visitorAddress: { networks: ['192.0.2.0/24'], header: 'X-Real-IP' },
    firewall: { whitelist: ['203.0.113.7'] },
    needs: ['firewall', 'visitorAddress'],
  });
  const cloudflare = docOf({ visitorAddress: { ...custom, proxy: 'cloudflare' } }).visitorAddress;
  expect(cloudflare?.header).toBe('CF-Connecting-IP');
  expect(cloudflare?.networks).toEqual(expect.arrayContaining(['173.245.48.0/20', '2606:4700::/32']));
  expect(docOf({ visitorAddress: { ...custom, proxy: 'none' } })).not.toHaveProperty('visitorAddress');
  // A port that is not the zone's any more needs nothing of a node.
  const named = docOf({ visitorAddress: { ...custom, proxyProtocolPorts: [443, 8443] } });
  expect(named).toMatchObject({
    ports: [{ port: 443, tls: true, proxyProtocol: true }],
    needs: ['proxyProtocol', 'visitorAddress'],
  });
  expect(docOf({ visitorAddress: { ...custom, proxyProtocolPorts: [8443] } }).needs).toEqual(['visitorAddress']);
});

test('a zone with a firewall requires nodes that support it', () => {
  const needsWith = (firewall: Partial<ZoneFirewall>) =>
    zoneDoc(
      { id: id(9), forceSSLRedirectCode: 301, settings: { firewall: { ...open, ...firewall } }, relays: [], ports: [] },
      policy,
    ).needs;
  expect(needsWith({ whitelist: ['192.0.2.1'] })).toBeUndefined();
  expect(needsWith({ blacklist: ['192.0.2.1'] })).toEqual(['firewall']);
  expect(needsWith({ synProtection: true, level: 75 })).toEqual(['firewall', 'firewallLevel']);
});
