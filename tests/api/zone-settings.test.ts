import { afterAll, describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { ports } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { noAntiCC } from '@edgeloom/contract/zone-anti-cc/zone-anti-cc.ts';
import { open } from '@edgeloom/contract/zone-firewall/zone-firewall.ts';
import { ownAddresses, type VisitorAddressInput } from '@edgeloom/contract/visitor-address/visitor-address.ts';
import { nginxDefaults, zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { ConfigDraft } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { zonePorts, zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { compileBody } from '../support/builders/compiled-documents.ts';
import { casesOfRun } from '../support/builders/long-run.ts';
import { testApp } from '../support/services/app.ts';
import { endSwitches, withdrawTrial } from '../support/services/background-work.ts';
import '../support/assertions/matchers.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

/** The zone's document for nodes. */
const readZoneDoc = async (zoneId: string): Promise<ZoneDoc> =>
  ZoneDoc.parse(JSON.parse(await compileBody(installation, zoneId, 'zone')));

describe('the settings of a zone', () => {
  test('start with defaults, returned in one response', async () => {
    const zone = await build.zone();
    const settings = await as(zone.client).call(zoneSettings.get, { params: { zoneId: zone.id } });
    expect(settings).toMatchObject({
      http2: true,
      http3: true,
      forceSSLRedirectCode: 301,
      nginx: { enable: false, http: '' },
      resource: { workerProcesses: 0, bodyBytes: 0 },
      version: 0,
      author: '',
      changedAt: null,
      trial: null,
    });
    expect(settings.switches.map(({ name, off }) => [name, off])).toEqual([
      ['compression', false],
      ['image', false],
      ['http3', false],
      ['antiCC', false],
      ['waf', false],
    ]);
  });

  test('reject workers with fewer than 1,024 connections, and keep older values', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    const resource = { ...(await call(zoneSettings.resource, { params })), workerConnections: 1023 };
    const fault = (path: string) => ({ errorData: [expect.objectContaining({ path, rule: 'range' })] });
    await expect(call(zoneSettings.setResource, { params, body: { ...resource, reason: 'because' } })).toFail(
      'PARAMETER',
      fault('workerConnections'),
    );
    await expect(call(zoneSettings.set, { params, body: { resource, reason: 'because' } })).toFail(
      'PARAMETER',
      fault('resource.workerConnections'),
    );
    await installation.db.zone.update({ where: { id: zone.id }, data: { settings: { resource } } });
    expect(await call(zoneSettings.resource, { params })).toEqual(resource);
  });

  test('name the proxies in front of a zone', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    const set = (visitorAddress: object) =>
      call(zoneSettings.set, {
        params,
        body: { visitorAddress: { ...ownAddresses, ...visitorAddress }, reason: 'a balancer' },
      });
    const none = { proxy: 'none', networks: [], header: 'X-Forwarded-For', proxyProtocolPorts: [] };
    expect((await call(zoneSettings.get, { params })).visitorAddress).toEqual(none);
    const custom = {
      proxy: 'custom',
      networks: ['192.0.2.0/24', '2001:db8::/32'],
      header: 'x-forwarded-FOR',
      proxyProtocolPorts: [443],
    };
    // nginx knows this name in one spelling only.
    const stored = { ...custom, header: 'X-Forwarded-For' };
    expect((await set(custom)).visitorAddress).toEqual(stored);
    const { header, networks } = stored;
    expect(await readZoneDoc(zone.id)).toMatchObject({
      visitorAddress: { header, networks },
      ports: [
        { port: 80, tls: false },
        { port: 443, tls: true, proxyProtocol: true },
      ],
    });

    const faults: [object, string, string][] = [
      [{ networks: ['192.0.2.0/24', 'proxy.example.com'] }, 'networks.1', 'wrong format'],
      [{ networks: ['0.0.0.0/0'] }, 'networks.0', 'wrong format'],
      [{ networks: ['::/0'] }, 'networks.0', 'wrong format'],
      [{ networks: ['192.0.2.1', '192.0.2.1/32'] }, 'networks.1', 'duplicate IP'],
      [{ networks: Array.from({ length: 128 }, (_, i) => `${i}.0.0.0/8`) }, 'networks', 'half of all addresses'],
      [{ networks: [] }, 'networks', 'required'],
      [{ proxyProtocolPorts: [443, 8444] }, 'proxyProtocolPorts.1', 'the zone does not open this port'],
      [{ proxyProtocolPorts: [443, 443] }, 'proxyProtocolPorts', 'data already exists'],
      [{ proxy: 'none' }, 'proxyProtocolPorts', 'only behind a trusted proxy'],
      ...['X Visitor', '', 'proxy_protocol', 'X-Real-IP;', '$http_x', 'X-\nA'].map((name): [object, string, string] => [
        { header: name },
        'header',
        'a header name',
      ]),
    ];
    for (const [change, path, message] of faults)
      await expect(set({ ...custom, ...change })).toFail('PARAMETER', {
        errorData: [expect.objectContaining({ path: `visitorAddress.${path}`, message })],
      });
    expect((await call(zoneSettings.get, { params })).visitorAddress).toEqual(stored);

    const { data } = await call(zoneSettings.versions, { params, query: {} });
    expect(data.at(-1)?.changes ?? []).toEqual(
      expect.arrayContaining([
        { field: 'visitorAddress.proxy', before: 'none', after: 'custom' },
        { field: 'visitorAddress.networks', before: '', after: '192.0.2.0/24\n2001:db8::/32' },
        { field: 'visitorAddress.proxyProtocolPorts', before: '', after: '443' },
      ]),
    );
  });

  test('keep the PROXY protocol of a port that is renumbered, and forget it with a port that is removed', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    const visitorAddress = { ...ownAddresses, proxy: 'cloudflare' as const, proxyProtocolPorts: [80, 443] };
    await call(zoneSettings.set, { params, body: { visitorAddress, reason: 'a balancer' } });
    const { data } = await call(zonePorts.list, { params });
    const [plain, secure] = data.map(({ id }) => id);
    const renumbered = { id: plain ?? '', port: 8080, tls: false };
    const chosen = async () => (await call(zoneSettings.get, { params })).visitorAddress.proxyProtocolPorts;
    const preview = async (ports: object[]) => {
      const body = ConfigDraft.parse({ ports });
      return (await call(zoneSettings.preview, { params, body })).changes;
    };
    const lastChanges = async () => (await call(zoneSettings.versions, { params, query: {} })).data.at(-1)?.changes;

    const renumbering = await preview([renumbered, { id: secure, port: 443, tls: true }]);
    await call(zonePorts.update, { params, body: renumbered });
    expect(await chosen()).toEqual([8080, 443]);
    expect(renumbering).toEqual(await lastChanges());
    const removing = await preview([renumbered]);
    await call(zonePorts.remove, { params, body: { ids: [secure ?? ''] } });
    expect(await chosen()).toEqual([8080]);
    expect(removing).toEqual(await lastChanges());
    expect((await readZoneDoc(zone.id)).ports).toEqual([{ port: 8080, tls: false, proxyProtocol: true }]);
  });

  // Regression: a script of an earlier release that replaced the networks turned PROXY protocol off.
  test('keep PROXY protocol when a client does not send its ports, until there is no proxy', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    const set = async (visitorAddress: z.input<typeof VisitorAddressInput>) => {
      const body = { visitorAddress, reason: 'a balancer' };
      const { changes } = await call(zoneSettings.preview, { params, body: { visitorAddress } });
      const after = (await call(zoneSettings.set, { params, body })).visitorAddress;
      return { previewed: changes.map(({ field }) => field), ports: after.proxyProtocolPorts };
    };
    const custom = { proxy: 'custom' as const, networks: ['192.0.2.0/24'], header: 'X-Real-IP' };
    await set({ ...custom, proxyProtocolPorts: [443] });
    const networks = ['198.51.100.0/24'];
    expect(await set({ ...custom, networks })).toEqual({ previewed: ['visitorAddress.networks'], ports: [443] });
    const { previewed, ports: none } = await set({ ...custom, networks, proxy: 'none' });
    expect(none).toEqual([]);
    expect(previewed).toEqual(['visitorAddress.proxy', 'visitorAddress.proxyProtocolPorts']);
    expect(await set({ ...custom, proxyProtocolPorts: [443] })).toMatchObject({ ports: [443] });
    expect(await set({ ...custom, proxyProtocolPorts: [] })).toMatchObject({ ports: [] });
  });

  // Regression: the number of a port that did not come back stayed in the list, and the next port with it had PROXY
  // protocol.
  test('do not give a new port the PROXY protocol of a port that a rollback could not restore', async () => {
    const zone = await build.zone({ tlsPorts: [443, 8443, 9443] });
    const site = await build.site({ product: await build.product({ zone }) });
    const { id: nodeId } = await build.node({ zone });
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    const chosen = async () => (await call(zoneSettings.get, { params })).visitorAddress.proxyProtocolPorts;
    const visitorAddress = { ...ownAddresses, proxy: 'cloudflare' as const, proxyProtocolPorts: [8443, 9443] };
    await call(zoneSettings.set, { params, body: { visitorAddress, reason: 'a balancer' } });
    await installation.db.edgeNode.update({ where: { id: nodeId }, data: { joinedAt: new Date() } });

    const { data } = await call(zonePorts.list, { params });
    const idOf = (number: number) => data.find(({ port }) => port === number)?.id ?? '';
    await call(zonePorts.remove, { params, body: { ids: [idOf(8443)] } });
    await call(zonePorts.update, { params, body: { id: idOf(9443), port: 9444, tls: true } });
    const { trial } = await call(zoneSettings.get, { params });
    const upstreams = [{ address: '192.0.2.1', port: 22 }];
    await as(site.owner).call(ports.create, {
      params: site.params,
      body: { ports: [8443, 9443].map((port) => ({ port, upstreams })) },
    });
    await withdrawTrial(installation, zone.id, trial?.version ?? 0);
    // The renumbered port keeps its new number.
    expect(await chosen()).toEqual([9444]);

    // As an earlier version left it.
    const settings = { visitorAddress: { ...visitorAddress, proxyProtocolPorts: [444, 9444] } };
    await installation.db.zone.update({ where: { id: zone.id }, data: { settings } });
    await call(zonePorts.create, { params, body: { port: 444, tls: true } });
    expect(await chosen()).toEqual([9444]);
  });

  // Regression: during the next trial, all other nodes opened the zone port in place of the site's forward.
  test('of nodes outside of a trial do not contain a port that an earlier rollback could not restore', async () => {
    const zone = await build.zone({ tlsPorts: [443, 8443] });
    const site = await build.site({ product: await build.product({ zone }) });
    const { id: nodeId } = await build.node({ zone });
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    await call(zoneSettings.http2, { params, body: { enable: false, reason: 'an old balancer' } });
    await installation.db.edgeNode.update({ where: { id: nodeId }, data: { joinedAt: new Date() } });

    const { data } = await call(zonePorts.list, { params });
    await call(zonePorts.remove, { params, body: { ids: [data.find(({ port }) => port === 8443)?.id ?? ''] } });
    const { trial } = await call(zoneSettings.get, { params });
    await as(site.owner).call(ports.create, {
      params: site.params,
      body: { ports: [{ port: 8443, upstreams: [{ address: '192.0.2.1', port: 22 }] }] },
    });
    await withdrawTrial(installation, zone.id, trial?.version ?? 0);

    const { trial: next } = await call(zoneSettings.http2, {
      params,
      body: { enable: true, reason: 'a new balancer' },
    });
    expect(next).not.toBeNull();
    const { ports: served, http2 } = await readZoneDoc(zone.id);
    expect({ http2, served: served.map(({ port }) => port) }).toEqual({ http2: false, served: [80, 443] });
    const { data: versions } = await call(zoneSettings.versions, { params, query: {} });
    expect(versions.find(({ version }) => version === next?.version)?.changes.map(({ field }) => field)).toEqual([
      'http2',
    ]);
  });

  test('are published by each call', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    await call(zoneSettings.http2, { params, body: { enable: false } });
    await call(zoneSettings.http3, { params, body: { enable: false } });
    const resource = await call(zoneSettings.resource, { params });
    await call(zoneSettings.setResource, {
      params,
      body: { ...resource, workerProcesses: 4, bodyBytes: 1_048_576, cacheBytes: 5_000_000_000, reason: 'uploads' },
    });
    expect(await readZoneDoc(zone.id)).toMatchObject({
      http2: false,
      http3: false,
      worker: { processes: 4, connections: 16_384 },
      cache: { maxBytes: 5_000_000_000 },
      maxBodyBytes: 1_048_576,
    });
    const { resource: kept } = await call(zoneSettings.get, { params });
    expect(kept).toMatchObject({ workerProcesses: 4, bodyBytes: 1_048_576 });
    expect(await outboxKeys(installation, zone.id)).toContain('zone');
  });

  test('firewall lists are published and versioned, and a list of half the internet is rejected', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    expect(await readZoneDoc(zone.id)).not.toHaveProperty('firewall');
    const firewall = {
      level: 25 as const,
      whitelist: ['192.0.2.7'],
      blacklist: ['198.51.100.0/24', '2001:db8::/32'],
      synProtection: true,
    };
    await call(zoneSettings.setFirewall, { params, body: { ...firewall, reason: 'a flood' } });
    // An agent without this capability must reject the document.
    expect(await readZoneDoc(zone.id)).toMatchObject({ firewall, needs: expect.arrayContaining(['firewallLevel']) });
    expect(await call(zoneSettings.firewall, { params })).toEqual(firewall);
    const { data } = await call(zoneSettings.versions, { params, query: {} });
    expect(data.find(({ reason }) => reason === 'a flood')?.changes.map(({ field }) => field)).toEqual([
      'firewall.level',
      'firewall.whitelist',
      'firewall.blacklist',
      'firewall.synProtection',
    ]);
    const wide = { ...firewall, blacklist: ['0.0.0.0/1'], reason: 'a slip' };
    await expect(call(zoneSettings.setFirewall, { params, body: wide })).toFail('PARAMETER');
    // An allow list alone, without any blocking, is not published.
    const nobody = { level: 0 as const, whitelist: ['192.0.2.7'], blacklist: [], synProtection: false, reason: 'over' };
    await call(zoneSettings.setFirewall, { params, body: nobody });
    expect(await readZoneDoc(zone.id)).not.toHaveProperty('firewall');
  });

  test("anti-CC is published while enabled, with the firewall's allow list, unless a kill switch is on", async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    expect(await call(zoneSettings.antiCC, { params })).toEqual(noAntiCC);
    expect(await readZoneDoc(zone.id)).not.toHaveProperty('antiCC');
    const antiCC = {
      ...noAntiCC,
      enabled: true,
      mode: 3 as const,
      requests: 50,
      paths: ['/api/'],
      extensions: ['CSS'],
    };
    await call(zoneSettings.setAntiCC, { params, body: { ...antiCC, reason: 'a flood' } });
    await call(zoneSettings.set, {
      params,
      body: { firewall: { ...open, whitelist: ['192.0.2.0/24'] }, reason: 'us' },
    });
    expect(await readZoneDoc(zone.id)).toMatchObject({
      antiCC: { mode: 3, requests: 50, paths: ['/api/'], extensions: ['css'], whitelist: ['192.0.2.0/24'] },
    });
    const { data } = await call(zoneSettings.versions, { params, query: {} });
    const changes = data.find(({ reason }) => reason === 'a flood')?.changes ?? [];
    expect(changes).toContainEqual({ field: 'antiCC.mode', before: '1', after: '3' });
    expect(changes.map(({ field }) => field)).toEqual(
      ['enabled', 'mode', 'requests', 'paths', 'extensions'].map((name) => `antiCC.${name}`),
    );
    await call(zoneSettings.setSwitch, { params, body: { name: 'antiCC', off: true, reason: 'visitors are lost' } });
    expect(await readZoneDoc(zone.id)).not.toHaveProperty('antiCC');
    const wrong = { mode: 5, requests: -1, seconds: 0, passSeconds: 1, paths: ['api'], extensions: ['.css'] };
    for (const [name, value] of Object.entries(wrong))
      await expect(
        call(zoneSettings.setAntiCC, { params, body: { ...antiCC, [name]: value, reason: 'a slip' } }),
      ).toFail('PARAMETER');
  });

  test('a no-op change creates no version and publishes nothing', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const before = await outboxKeys(installation, zone.id);
    const settings = await call(zoneSettings.http2, { params: { zoneId: zone.id }, body: { enable: true } });
    expect(settings.version).toBe(0);
    expect(await outboxKeys(installation, zone.id)).toEqual(before);
  });
});

describe('an nginx snippet', () => {
  test('is stored after validation by nginx, and published once enabled', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    const content = '# visitors\nkeepalive_timeout 20s;\n';
    await call(zoneSettings.setPart, { params: { ...params, part: 'http' }, body: { content, reason: 'phones' } });
    expect(await call(zoneSettings.part, { params: { ...params, part: 'http' } })).toEqual({ content });
    expect(await readZoneDoc(zone.id)).not.toHaveProperty('snippets');
    await call(zoneSettings.nginx, { params, body: { enable: true } });
    expect(await readZoneDoc(zone.id)).toMatchObject({ snippets: { http: content } });
  });

  const rejected = [
    ['http', 'keepalive_timeout 20s;\nload_module x.so;', 'dangerous', 'line 2, column 1'],
    ['http', 'send_timeout 5s\n', 'unended', 'line 1, column 1'],
    ['http', '\nkeepalive_timeout soon;', 'nginx', 'line 2, column 1: "keepalive_timeout" directive invalid value'],
    ['custom', 'gzip_comp_level 99;', 'nginx', 'line 1, column 1: value must be between 1 and 9'],
    ['stream', 'tcp_nodelay maybe;', 'nginx', 'line 1, column 1: invalid value "maybe"'],
    ['worker', 'worker_priority high;', 'nginx', 'line 1, column 1'],
  ] as const;
  test.each(casesOfRun(rejected, 3))('in %s is rejected at its position: %j', async (part, content, rule, message) => {
    const zone = await build.zone();
    const refused = as(zone.client).call(zoneSettings.setPart, {
      params: { zoneId: zone.id, part },
      body: { content },
    });
    await expect(refused).toFail('PARAMETER', {
      errorData: [{ path: 'content', rule: 'snippet', message: expect.stringContaining(message) }],
      extra: { faults: [expect.objectContaining({ part, rule })] },
    });
    expect((await as(zone.client).call(zoneSettings.get, { params: { zoneId: zone.id } })).nginx[part]).toBe('');
  });

  test('is the default of new zones of its client', async () => {
    const tenant = await build.client();
    const { call } = as(tenant.client);
    await expect(call(nginxDefaults.set, { params: { part: 'worker' }, body: { content: 'user root;' } })).toFail(
      'PARAMETER',
    );
    const content = 'worker_shutdown_timeout 1h;';
    await call(nginxDefaults.set, { params: { part: 'worker' }, body: { content } });
    expect(await call(nginxDefaults.get, { params: { part: 'worker' } })).toMatchObject({ content });
    const zone = await call(zones.create, { body: { name: 'North' } });
    expect(await readZoneDoc(zone.id)).toMatchObject({ snippets: { worker: content } });
    const other = await build.client();
    expect(await as(other.client).call(nginxDefaults.get, { params: { part: 'worker' } })).toMatchObject({
      content: '',
    });
  });
});

describe('before a change', () => {
  test("the preview shows the changes, nginx's verdict, and different files", async () => {
    const zone = await build.zone();
    const body = { http2: false, nginx: { enable: true, custom: 'proxy_next_upstream_tries 3;' } };
    const seen = await as(zone.client).call(zoneSettings.preview, { params: { zoneId: zone.id }, body });
    expect(seen.changes).toEqual([
      { field: 'http2', before: 'true', after: 'false' },
      { field: 'nginx.enable', before: 'false', after: 'true' },
      { field: 'nginx.custom', before: '', after: 'proxy_next_upstream_tries 3;' },
    ]);
    expect(seen.checks.map(({ name, state }) => [name, state])).toEqual([
      ['edge', 'passed'],
      ['relay', 'passed'],
      ['forwards', 'passed'],
    ]);
    expect(seen.reload).toBe(true);
    expect(seen.files.map(({ path }) => path)).toContain('snippet-origins.conf');
    expect(await as(zone.client).call(zoneSettings.get, { params: { zoneId: zone.id } })).toMatchObject({ version: 0 });
  });

  test('the preview counts affected nodes, for the change and its rollback', async () => {
    const zone = await build.zone();
    const { id: nodeId } = await build.node({ zone });
    await installation.db.edgeNode.update({ where: { id: nodeId }, data: { joinedAt: new Date() } });
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    const nodesOf = async (body: { http2?: boolean; http3?: boolean; soakSeconds?: number }) =>
      (await call(zoneSettings.preview, { params, body })).nodes;
    expect(await nodesOf({ http2: false })).toBe(1);
    // The soak time is not part of the documents.
    expect(await nodesOf({ soakSeconds: 90 })).toBe(0);
    await call(zoneSettings.soak, { params, body: { soakSeconds: 90, reason: 'care' } });
    await call(zoneSettings.http2, { params, body: { enable: false, reason: 'an old balancer' } });
    const back = await call(zoneSettings.previewRollback, { params: { ...params, version: 1 } });
    expect(back).toMatchObject({
      changes: [
        { field: 'http2', before: 'false', after: 'true' },
        { field: 'soakSeconds', before: '90', after: '30' },
      ],
      faults: [],
      // Settings that are already live reach no node.
      nodes: 0,
    });
    expect(await nodesOf({ http3: false })).toBe(1);
    expect(await call(zoneSettings.get, { params })).toMatchObject({ http2: false, soakSeconds: 90 });
    await expect(call(zoneSettings.previewRollback, { params: { ...params, version: 99 } })).toFail('NOT_FOUND');
  });

  test('any two versions are compared, in either order', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    for (const soakSeconds of [60, 90])
      await call(zoneSettings.soak, { params, body: { soakSeconds, reason: 'care' } });
    await call(zoneSettings.http2, { params, body: { enable: false, reason: 'an old balancer' } });
    const compared = (against: number, version: number) =>
      call(zoneSettings.compare, { params: { ...params, version }, query: { against } });
    expect(await compared(1, 3)).toEqual({
      changes: [{ field: 'soakSeconds', before: '30', after: '90' }],
      files: [],
    });
    const back = await compared(4, 2);
    expect(back.changes).toEqual([
      { field: 'http2', before: 'false', after: 'true' },
      { field: 'soakSeconds', before: '90', after: '60' },
    ]);
    expect(back.files.map(({ path }) => path)).not.toEqual([]);
    expect(await compared(3, 3)).toEqual({ changes: [], files: [] });
    const { changes } = await call(zoneSettings.compare, { params: { ...params, version: 4 } });
    expect(changes).toEqual([{ field: 'http2', before: 'true', after: 'false' }]);
    await expect(compared(1, 99)).toFail('NOT_FOUND');
    await expect(compared(99, 1)).toFail('NOT_FOUND');
    // Older versions are deleted, so some versions have no predecessor.
    await installation.db.zoneVersion.deleteMany({ where: { zoneId: zone.id, version: { in: [1, 3] } } });
    const alone = (version: number) => call(zoneSettings.compare, { params: { ...params, version } });
    expect(await alone(2)).toEqual({ changes: [], files: [] });
    expect((await alone(4)).changes.map(({ field }) => field)).toEqual(['http2', 'soakSeconds']);
  });

  test('validations by nginx run one after the other, with a limited queue', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const body = { nginx: { enable: true, http: 'send_timeout 9s;' } };
    const ask = () => call(zoneSettings.preview, { params: { zoneId: zone.id }, body });
    const asked = await Promise.allSettled(Array.from({ length: 9 }, ask));
    const states = asked.map(({ status }) => status);
    expect(states.filter((state) => state === 'fulfilled').length).toBeGreaterThanOrEqual(4);
    expect(states).toContain('rejected');
    // A waiting change does not inherit the errors of the failed one.
    expect((await ask()).faults).toEqual([]);
  });

  test('the preview of an invalid change names each error', async () => {
    const zone = await build.zone();
    const body = { nginx: { http: 'include x;\nno_such_thing;', custom: 'proxy_pass http://x;' } };
    const { faults, files } = await as(zone.client).call(zoneSettings.preview, { params: { zoneId: zone.id }, body });
    expect(faults).toEqual([
      { part: 'http', line: 1, column: 1, rule: 'dangerous', about: 'include' },
      { part: 'http', line: 2, column: 1, rule: 'unknown', about: 'no_such_thing' },
      { part: 'custom', line: 1, column: 1, rule: 'dangerous', about: 'proxy_pass' },
    ]);
    expect(files).toEqual([]);
  });
});

describe('the versions of a zone', () => {
  test('are empty without any change', async () => {
    const zone = await build.zone();
    const list = as(zone.client).call(zoneSettings.versions, { params: { zoneId: zone.id } });
    expect(await list).toEqual({ data: [], total: 0 });
  });

  // Regression: listing rollouts failed when one belonged to a zone.
  test('are listed as rollouts if a node is on trial', async () => {
    const zone = await build.zone();
    const { id: nodeId } = await build.node({ zone });
    await installation.db.edgeNode.update({ where: { id: nodeId }, data: { joinedAt: new Date() } });
    const { call } = as(zone.client);
    await call(zoneSettings.http2, { params: { zoneId: zone.id }, body: { enable: false } });
    const { data } = await call(rollouts.list, {});
    expect(data).toMatchObject([{ kind: 'zone', product: null, version: null, zones: [{ id: zone.id }] }]);
    const { nodes } = await call(rollouts.get, { params: { id: data[0]?.id ?? '' } });
    expect(nodes.map(({ nodeID }) => nodeID)).toEqual([nodeId]);
  });

  // Regression: a rolled-back change disappeared without a message.
  test('show rolled-back changes with the reason, until the next change', async () => {
    const zone = await build.zone();
    const { id: nodeId } = await build.node({ zone });
    await installation.db.edgeNode.update({ where: { id: nodeId }, data: { joinedAt: new Date() } });
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    const { trial } = await call(zoneSettings.http2, { params, body: { enable: false, reason: 'an old balancer' } });
    await withdrawTrial(installation, zone.id, trial?.version ?? 0, 'nginx refused it');
    expect(await call(zoneSettings.get, { params })).toMatchObject({
      http2: true,
      trial: null,
      withdrawn: { version: 2, message: 'nginx refused it', messageCode: null },
    });
    const { version, author } = await call(zoneSettings.get, { params });
    // The state before the first change has no author.
    expect({ version, author }).toEqual({ version: 1, author: '' });
    const next = await call(zoneSettings.soak, { params, body: { soakSeconds: 90, reason: 'more care' } });
    expect(next).toMatchObject({ version: 3, author: zone.client.email, withdrawn: null });
  });

  // Regression: the second port had the number that the first one needed, so its number was not restored.
  test('restore swapped port numbers, automatically and by hand', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    const make = (port: number) => call(zonePorts.create, { params, body: { port, tls: false } });
    const [one, other] = [await make(8080), await make(8081)];
    const numbers = async () => {
      const { data } = await call(zonePorts.list, { params });
      return [one, other].map(({ id }) => data.find((port) => port.id === id)?.port);
    };
    const renumber = (id: string, port: number) => call(zonePorts.update, { params, body: { id, port, tls: false } });
    const { version } = await call(zoneSettings.get, { params });
    const renumberBoth = async () => {
      await renumber(one.id, 8082);
      await renumber(other.id, 8080);
    };
    await renumberBoth();
    expect(await numbers()).toEqual([8082, 8080]);
    await call(zoneSettings.rollback, { params: { ...params, version }, body: { reason: 'as it was' } });
    expect(await numbers()).toEqual([8080, 8081]);

    const { id: nodeId } = await build.node({ zone });
    await installation.db.edgeNode.update({ where: { id: nodeId }, data: { joinedAt: new Date() } });
    await renumberBoth();
    const { trial } = await call(zoneSettings.get, { params });
    await withdrawTrial(installation, zone.id, trial?.version ?? 0);
    expect(await numbers()).toEqual([8080, 8081]);
  });

  test('show author and reason, newest first, and can be restored', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    await call(zoneSettings.http2, { params, body: { enable: false, reason: 'an old balancer' } });
    const port = await call(zonePorts.create, { params, body: { port: 8080, tls: false, reason: 'a game' } });
    await call(zones.forceSSLRedirectCode, { params, body: { code: 308 } });
    const { data, total } = await call(zoneSettings.versions, { params, query: { orderBy: 'desc' } });
    expect(total).toBe(4);
    expect(data.map(({ version, state, reason }) => [version, state, reason])).toEqual([
      [4, 'live', ''],
      [3, 'past', 'a game'],
      [2, 'past', 'an old balancer'],
      [1, 'past', ''],
    ]);
    expect(data[0]?.changes).toEqual([{ field: 'forceSSLRedirectCode', before: '301', after: '308' }]);
    expect(data[1]?.changes).toMatchObject([{ field: 'ports' }]);
    expect(data[2]).toMatchObject({
      author: expect.stringContaining('@'),
      changes: [{ field: 'http2', before: 'true', after: 'false' }],
    });

    const back = await call(zoneSettings.rollback, {
      params: { ...params, version: 1 },
      body: { reason: 'all of it' },
    });
    expect(back).toMatchObject({ http2: true, forceSSLRedirectCode: 301, version: 5 });
    expect(back.ports.map(({ id }) => id)).not.toContain(port.id);
    const again = await call(zoneSettings.rollback, { params: { ...params, version: 4 }, body: { reason: 'or not' } });
    expect(again.ports).toContainEqual(expect.objectContaining({ id: port.id, port: 8080 }));
    await expect(call(zoneSettings.rollback, { params: { ...params, version: 99 }, body: { reason: 'x' } })).toFail(
      'NOT_FOUND',
    );
  });
});

describe('a kill switch', () => {
  test('may be switched off concurrently without error', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    const reasons = ['one', 'two', 'three', 'four'];
    const body = { name: 'http3', off: true } as const;
    await Promise.all(reasons.map((reason) => call(zoneSettings.setSwitch, { params, body: { ...body, reason } })));
    const { data } = await call(zoneSettings.switches, { params });
    const found = data.find(({ name }) => name === 'http3');
    expect([found?.off, reasons.includes(found?.reason ?? '')]).toEqual([true, true]);
    const stranger = await build.zone();
    await expect(
      as(stranger.client).call(zoneSettings.setSwitch, { params, body: { ...body, reason: 'not mine' } }),
    ).toFail('NOT_FOUND');
  });

  test('is published to all nodes with its reason, and ends automatically', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    const off = { off: true, reason: 'a bug in a browser' };
    await call(zoneSettings.setSwitch, { params, body: { ...off, name: 'compression' } });
    await call(zoneSettings.setSwitch, { params, body: { ...off, name: 'http3' } });
    expect(await readZoneDoc(zone.id)).toMatchObject({ off: ['compression'], http3: false });
    const { data } = await call(zoneSettings.switches, { params });
    expect(data[0]).toMatchObject({
      name: 'compression',
      off: true,
      reason: off.reason,
      author: expect.stringContaining('@'),
    });

    await installation.db.zoneSwitch.updateMany({
      where: { zoneId: zone.id, name: 'http3' },
      data: { until: new Date(0) },
    });
    const before = await outboxKeys(installation, zone.id);
    await endSwitches(installation);
    expect((await outboxKeys(installation, zone.id)).slice(before.length)).toEqual(['zone']);
    expect(await readZoneDoc(zone.id)).toMatchObject({ off: ['compression'], http3: true });
    await call(zoneSettings.setSwitch, { params, body: { off: false, reason: 'mended', name: 'compression' } });
    expect((await call(zoneSettings.switches, { params })).data.every((one) => !one.off)).toBe(true);
    await call(zoneSettings.setSwitch, { params, body: { ...off, name: 'waf' } });
    expect(await readZoneDoc(zone.id)).toMatchObject({ wafOff: true });
    await installation.db.zoneSwitch.updateMany({ where: { zoneId: zone.id }, data: { until: new Date(0) } });
    await endSwitches(installation);
    expect(await readZoneDoc(zone.id)).not.toHaveProperty('wafOff');
    const past = { ...off, name: 'image' as const, until: new Date(0).toISOString() };
    await expect(call(zoneSettings.setSwitch, { params, body: past })).toFail('PARAMETER');
  });
});
