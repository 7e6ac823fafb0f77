import type { NodeDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Capabilities } from './capabilities.ts';
import { conf, luaText } from './conf.ts';
import { renderTree } from './render.ts';
import type { HostFacts } from './input.ts';

const debian: Capabilities = {
  version: '1.22.1',
  openresty: false,
  modules: ['/usr/lib/nginx/modules/ndk_http_module.so', '/usr/lib/nginx/modules/ngx_http_lua_module.so'],
  lua: true,
  stream: true,
  streamRealip: true,
  realip: true,
  brotli: false,
  webp: false,
  slice: true,
  geoip2: false,
  http2: 'listen',
  http3: false,
  minFree: true,
  poolPerName: false,
};
const openresty: Capabilities = {
  ...debian,
  version: '1.27.1',
  openresty: true,
  modules: [],
  http2: 'directive',
  webp: true,
  poolPerName: true,
};

const host: HostFacts = {
  dir: '/var/lib/edgeloom',
  luaDir: '/opt/edgeloom/lua',
  listen: ['0.0.0.0', '[::]'],
  user: 'www-data',
  capabilities: debian,
  resolvers: ['127.0.0.53'],
  caBundle: '/etc/ssl/certs/ca-certificates.crt',
};
const zone: ZoneDoc = {
  kind: 'zone',
  id: '01980000-0000-7000-8000-000000000001',
  ports: [
    { port: 443, tls: true },
    { port: 80, tls: false },
  ],
  http2: true,
  tlsProtocols: ['TLSv1.3', 'TLSv1.2'],
  worker: { processes: 0, connections: 16_384 },
  cache: { maxBytes: 10_737_418_240, keyBytes: 67_108_864, inactiveSeconds: 86_400 },
  maxBodyBytes: 0,
  originPolicy: { deny: ['127.0.0.0/8'], allow: [] },
};
const node: NodeDoc = {
  kind: 'node',
  id: '01980000-0000-7000-8000-000000000002',
  enabled: true,
  cacheMaxBytes: 1_073_741_824,
};

const relay = { id: node.id, address: '203.0.113.7', port: 8443 };

/** A zone with a snippet in each part. */
const written: ZoneDoc = {
  ...zone,
  off: ['compression', 'image'],
  snippets: {
    http: 'keepalive_timeout 20s;\nmap $http_x_team $my_team {\n  default "";\n  "~^a\\d{2}$" 1;\n}\nadd_header X-Team $my_team;\n',
    stream: 'tcp_nodelay off;',
    worker: 'worker_shutdown_timeout 10m; multi_accept on;',
    custom: '# the origin\nproxy_next_upstream_tries 3;\ngzip_comp_level 4;\nproxy_set_header X-Edge north;',
  },
};

describe('the rendered tree', () => {
  test.each([
    ['debian', { zone, node: null, generation: 7, host }],
    ['openresty', { zone, node, generation: 8, host: { ...host, user: null, capabilities: openresty } }],
    [
      'http3',
      {
        zone: { ...zone, http3: true, ports: [...zone.ports, { port: 8443, tls: true }] },
        node,
        generation: 10,
        host: { ...host, capabilities: { ...openresty, http3: true } },
      },
    ],
    [
      'snippets',
      {
        zone: written,
        node,
        generation: 13,
        host: { ...host, capabilities: openresty },
      },
    ],
    [
      'proxied',
      {
        zone: { ...zone, visitorAddress: { networks: ['203.0.113.0/24', '2001:db8::/32'], header: 'X-Forwarded-For' } },
        node,
        generation: 14,
        host,
      },
    ],
    [
      'proxy-protocol',
      {
        zone: {
          ...zone,
          http3: true,
          ports: [
            ...zone.ports,
            { port: 8080, tls: false, proxyProtocol: true },
            { port: 8443, tls: true, proxyProtocol: true },
          ],
          visitorAddress: { networks: ['203.0.113.0/24'], header: 'X-Forwarded-For' },
        },
        node,
        generation: 15,
        host: { ...host, capabilities: { ...openresty, http3: true } },
      },
    ],
    ['shielded', { zone: { ...zone, relays: [relay] }, node, generation: 11, host }],
    ['relay', { zone: { ...zone, relays: [relay] }, node: { ...node, relayPort: 8443 }, generation: 12, host }],
    [
      'plain-only',
      {
        zone: { ...zone, ports: [{ port: 8080, tls: false }] },
        node: { ...node, enabled: false },
        generation: 9,
        host,
      },
    ],
  ])('of %s is as it was', async (name, input) => {
    for (const [path, text] of renderTree(input)) {
      await expect(text).toMatchFileSnapshot(`__golden__/${name}/${path}`);
    }
  });

  test('does not depend on the order of ports or protocols', () => {
    const turned = { ...zone, ports: zone.ports.toReversed(), tlsProtocols: zone.tlsProtocols.toReversed() };
    const input = { zone, node, generation: 1, host };
    expect([...renderTree({ ...input, zone: turned })]).toEqual([...renderTree(input)]);
  });

  test.each([
    ['the zone does not ask for it', { ...zone, http3: false }, true],
    ['the zone says nothing of it', zone, true],
    ['no TLS that it needs is allowed', { ...zone, http3: true, tlsProtocols: ['TLSv1.2' as const] }, true],
    ['nginx has none', { ...zone, http3: true }, false],
  ])('has no HTTP/3 where %s', (_, asked, http3) => {
    const files = renderTree({
      zone: asked,
      node,
      generation: 1,
      host: { ...host, capabilities: { ...debian, http3 } },
    });
    expect([...files.values()].join('\n')).not.toMatch(/quic|http3 on|h3=/);
  });

  test('is refused where nginx has no Lua', () => {
    const bare = { ...host, capabilities: { ...debian, lua: false } };
    expect(() => renderTree({ zone, node, generation: 1, host: bare })).toThrow('no Lua');
  });
});

/** The structure of a file without values: directives, blocks and their order. */
function structure(text: string): string {
  let found = '';
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (char === '"' || char === "'") {
      for (i += 1; i < text.length && text[i] !== char; i += 1) if (text[i] === '\\') i += 1;
      found += '§';
    } else if (char === '#') {
      while (i < text.length && text[i] !== '\n') i += 1;
    } else {
      found += char;
    }
  }
  return found.replaceAll(/\d+/g, '0').replaceAll(/\s+/g, ' ');
}
const structureOf = (tree: Map<string, string>) =>
  [...tree].map(([path, text]) => `${path}: ${structure(text)}`).join('\n');

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '"; } server { listen 1; ',
    "'; load_module x;",
    '$host',
    '\\',
    '\\"',
    '\n}',
    '#',
    ']]',
    '}',
    '{{',
    '\u2028',
    ' ',
    '',
  ),
);

describe('no text changes the structure', () => {
  const usual = structureOf(renderTree({ zone, node, generation: 1, host }));
  /** Refused is as good as rendered to the same structure. */
  function keeps(changedZone: ZoneDoc, changedHost: HostFacts): boolean {
    let tree;
    try {
      tree = renderTree({ zone: changedZone, node, generation: 1, host: changedHost });
    } catch {
      return true;
    }
    return structureOf(tree) === usual;
  }
  const texts = fc.array(hostile, { maxLength: 3 });

  test('of a zone', () => {
    const property = fc.property(hostile, texts, texts, (id, deny, allow) =>
      keeps({ ...zone, id, originPolicy: { deny, allow } }, host),
    );
    expect(fc.check(property)).toMatchObject({ failed: false });
  });
  test('of the machine', () => {
    const property = fc.property(hostile, hostile, hostile, texts, (dir, luaDir, user, resolvers) =>
      keeps(zone, { ...host, dir, luaDir, user, resolvers }),
    );
    expect(fc.check(property)).toMatchObject({ failed: false });
  });
});

describe('the conf tag', () => {
  test('quotes every value, and escapes what would end a quote', () => {
    expect(conf`a ${'b c'} ${'"'} ${'\\'} ${1} ${false}${null};`.text).toBe('a "b c" "\\"" "\\\\" 1 ;');
  });
  test('inserts configuration as it is', () => {
    expect(conf`${[conf`a;`, conf`b;`]}${conf`c;`}`.text).toBe('a;b;c;');
  });
  test.each(['$host', 'a\nb', '\0', 'a\tb', '\u007f'])('refuses %j', (value) => {
    expect(() => conf`x ${value};`).toThrow('not allowed in an nginx file');
  });
  test.each([1.5, Number.NaN, Infinity, 2 ** 60])('refuses the number %d', (value) => {
    expect(() => conf`x ${value};`).toThrow('not a whole number');
  });
  test('a value comes back as nginx reads it', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        fc.pre(!/[\u0000-\u001f\u007f$]/.test(value)); // oxlint-disable-line no-control-regex -- what the tag refuses
        const { text } = conf`${value}`;
        expect(text.slice(1, -1).replaceAll(/\\(["\\])/g, '$1')).toBe(value);
      }),
      { seed: 1 },
    );
  });
  test('a Lua text holds no byte that could end it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const { text } = luaText(value);
        expect(text.slice(1, -1)).toMatch(/^(?:[ !#-[\]-~]|\\\d{3})*$/);
      }),
      { seed: 1 },
    );
  });
});
