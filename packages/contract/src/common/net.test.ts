import { describe, expect, test } from 'vitest';
import { Suffix } from '../dns-setting/dns-setting.ts';
import { syslogSettings } from '../log-destinations/log-destinations.ts';
import { NodeMonitor } from '../nodes/nodes.ts';
import { siteDnsForms } from '../site-dns/site-dns.ts';
import { Cname } from '../virtual-nodes/virtual-nodes.ts';
import type * as z from 'zod';
import { BrandingInput } from '../branding/branding.ts';
import { ErrorPageInput } from '../error-pages/error-pages.ts';
import { HostPattern } from '../hotlink/hotlink.ts';
import { DomainName, DomainNameInput, HostAddress, HostHeader } from './net.ts';
import { RedirectTarget } from './redirect-target.ts';

describe('a domain name', () => {
  test.each(['example.com', '*.example.com', 'xn--fiqs8s.tw', 'a-b.c_d.example.org', 'a.b.c.d.e.co'])(
    'may be %s',
    (name) => expect(DomainName.safeParse(name).success).toBe(true),
  );
  test.each([
    'localhost',
    '-a.com',
    'a-.com',
    '*.*.com',
    'a.*.com',
    '1.2.3.4',
    'a..com',
    '.com',
    'a.com.',
    'a b.com',
    `${'a'.repeat(64)}.com`,
  ])('may not be %s', (name) => expect(DomainName.safeParse(name).success).toBe(false));
});

describe('a domain name of another script', () => {
  test.each([
    ['例え.jp', 'xn--r8jz45g.jp'],
    [' *.Bücher.Example ', '*.xn--bcher-kva.example'],
    ['www.例え。jp', 'www.xn--r8jz45g.jp'],
    ['ｅｘａｍｐｌｅ.com', 'example.com'],
    ['www.example.com', 'www.example.com'],
    ['a_b.bücher.example', 'a_b.xn--bcher-kva.example'],
  ])('is stored in punycode: %s', (name, stored) => {
    expect(DomainNameInput.parse(name)).toBe(stored);
  });
  test.each([
    '例え',
    '例 え.jp',
    '例え.jp/a',
    '例え.jp:80',
    '例え@b.jp',
    '１.２.３.４',
    '例え..jp',
    `${'例'.repeat(64)}.jp`,
  ])('may not be %s', (name) => expect(DomainNameInput.safeParse(name).success).toBe(false));
});

test('is stored in punycode wherever a name is entered', () => {
  const [written, stored] = ['Bücher.example', 'xn--bcher-kva.example'];
  const node = { enabled: true, type: 1, url: null, port: 80, content: null, interval: 60, failAction: 'none' };
  expect([
    Suffix.parse(written),
    Cname.parse(written),
    siteDnsForms.powerDNS.shape.domains.parse([written]),
    syslogSettings.host.parse(written),
    NodeMonitor.parse({ ...node, host: `${written}:8080`, tlsName: written }),
  ]).toMatchObject([stored, stored, [stored], stored, { host: `${stored}:8080`, tlsName: stored }]);
});

test('host names, addresses and Host fields are stored in lower case', () => {
  expect(DomainName.parse(' *.Example.COM ')).toBe('*.example.com');
  expect(HostAddress.parse('Origin.Example.com')).toBe('origin.example.com');
  expect(HostAddress.parse('origin.Bücher.example')).toBe('origin.xn--bcher-kva.example');
  expect(HostHeader.parse('例え.jp')).toBe('xn--r8jz45g.jp');
  expect(HostHeader.parse('Bücher.example:8443')).toBe('xn--bcher-kva.example:8443');
  expect(HostAddress.parse('2001:DB8::1')).toBe('2001:db8::1');
  expect(HostHeader.parse('Shop.Example.com:8080')).toBe('shop.example.com:8080');
});

describe("an origin's address", () => {
  test.each(['192.0.2.1', '2001:db8::1', 'origin.example.com', 'backend'])('may be %s', (address) =>
    expect(HostAddress.safeParse(address).success).toBe(true),
  );
  test.each(['256.1.1.1', '1.2.3', '010.0.0.1', 'http://a', 'a b', 'a\nb', 'a;b', '$host', ''])(
    'may not be %j',
    (address) => expect(HostAddress.safeParse(address).success).toBe(false),
  );
});

test('a Host field carries a name or an address with an optional port, and nothing that nginx or HTTP reads otherwise', () => {
  for (const good of ['example.com', 'example.com:8080', '192.0.2.1', '[2001:db8::1]:443'])
    expect(HostHeader.safeParse(good).success).toBe(true);
  for (const bad of ['a b', 'a\r\nX: 1', '$host', 'a;b', 'a/b']) expect(HostHeader.safeParse(bad).success).toBe(false);
});

test.each<[string, z.ZodType, unknown, unknown]>([
  [
    'redirects of requests without a token',
    RedirectTarget,
    'https://例え.jp:8443/商品?q=é#top',
    'https://xn--r8jz45g.jp:8443/%E5%95%86%E5%93%81?q=%C3%A9#top',
  ],
  ['redirects to ASCII', RedirectTarget, 'https://Shop.example.com/%c3%a9', 'https://Shop.example.com/%c3%a9'],
  ['referers', HostPattern, '**.Bücher.example', '**.xn--bcher-kva.example'],
  [
    'error pages',
    ErrorPageInput,
    { code: 500, type: 'redirect', value: 'https://例え.jp/' },
    { code: 500, type: 'redirect', value: 'https://xn--r8jz45g.jp/', enabled: true },
  ],
  ['branding', BrandingInput.pick({ host: true }), { host: 'cdn.例え.jp' }, { host: 'cdn.xn--r8jz45g.jp' }],
])('%s: names of other scripts are stored in punycode', (_, schema, input, stored) => {
  expect(schema.parse(input)).toEqual(stored);
  expect(schema.parse(stored)).toEqual(stored);
});
