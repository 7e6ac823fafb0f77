import { randomUUID } from 'node:crypto';
import { simulate } from '@edgeloom/contract/simulate/simulate.endpoints.ts';
import { SimulateInput } from '@edgeloom/contract/simulate/simulate.ts';
import { permissions, type Permission } from '@edgeloom/contract/permissions.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

const at = (path: string, rule?: string) => ({
  errorData: [expect.objectContaining({ path, ...(rule && { rule }) })],
});

describe('a simulated request', () => {
  test('is allowed for own enabled names only', async () => {
    const domain = await build.domain();
    const { owner, params } = domain.site;
    const ask = (url: string) => as(owner).call(simulate.run, { params, body: { url } });
    // No node is connected, so the request passes all checks and fails here.
    await expect(ask(`http://${domain.name}/`)).toFail('NODE_UNREACHABLE');
    await expect(ask(`HTTPS://${domain.name.toUpperCase()}:8443/A?b#c`)).toFail('NODE_UNREACHABLE');
    const other = await build.domain();
    for (const url of [`http://${other.name}/`, 'http://nobody.example.com/', 'http://127.0.0.1/', 'http://[::1]/'])
      await expect(ask(url)).toFail('PARAMETER', at('url', 'domain'));
    await installation.db.domain.update({ where: { id: domain.id }, data: { enabled: false, enabledName: null } });
    await expect(ask(`http://${domain.name}/`)).toFail('PARAMETER', at('url', 'domain'));
  });

  test('matches a wildcard, but not a name that another customer serves exactly', async () => {
    const base = `${unique('w')}.example.com`;
    const wild = await build.domain({ name: `*.${base}` });
    const elsewhere = await build.site();
    const proof = { holderId: elsewhere.owner.id, name: `a.${base}`, provenAt: new Date() };
    await installation.db.nameProof.create({ data: proof });
    const other = await build.domain({ site: elsewhere, name: `a.${base}` });
    const { owner, params } = wild.site;
    const ask = (url: string) => as(owner).call(simulate.run, { params, body: { url } });
    await expect(ask(`http://b.${base}/`)).toFail('NODE_UNREACHABLE');
    await expect(ask(`http://a.b.${base}/`)).toFail('PARAMETER', at('url', 'domain'));
    await expect(ask(`http://${other.name}/`)).toFail('PARAMETER', at('url', 'domain'));
  });

  test('needs read permission for everything that it shows', async () => {
    const { site, name } = await build.domain();
    const needed: Permission[] = ['site:read', 'domain:read', 'cache:read', 'module:read', 'firewall:read'];
    const body = { url: `http://${name}/` };
    for (const left of needed) {
      const rest = permissions.filter((permission) => permission !== left);
      const sub = await build.subUser(site.owner, [site], { permissions: [...rest] });
      await expect(as(sub).call(simulate.run, { params: site.params, body })).toFail('PERMISSION_DENIED');
    }
    const sub = await build.subUser(site.owner, [site], { permissions: needed });
    await expect(as(sub).call(simulate.run, { params: site.params, body })).toFail('NODE_UNREACHABLE');
  });

  test('cannot use a node of another zone', async () => {
    const { site, name } = await build.domain();
    const node = await build.node({ zone: site.zone });
    await installation.db.nodeState.upsert({
      where: { nodeId: node.id },
      create: { nodeId: node.id, connectedAt: new Date() },
      update: { connectedAt: new Date() },
    });
    const foreign = await build.node();
    for (const nodeID of [foreign.id, randomUUID()])
      await expect(
        as(site.owner).call(simulate.run, { params: site.params, body: { url: `http://${name}/`, nodeID } }),
      ).toFail('PARAMETER', at('nodeID'));
  });
});

describe('its input', () => {
  const url = 'http://www.example.com/';
  const accepts = (input: unknown) => SimulateInput.safeParse(input).success;

  test.each([
    'ftp://www.example.com/',
    'http://',
    'www.example.com',
    'http://user@www.example.com/',
    'http://www.example.com/a b',
    'http://www.example.com/a\r\nX: 1',
    'http://www.example.com\\@evil.example/',
    `http://www.example.com/${'a'.repeat(4096)}`,
  ])('rejects the URL %j', (bad) => expect(accepts({ url: bad })).toBe(false));

  test.each([
    ['Host', 'a'],
    ['host', 'a'],
    ['Connection', 'close'],
    ['Transfer-Encoding', 'chunked'],
    ['Content-Length', '5'],
    ['Expect', '100-continue'],
    ['Upgrade', 'websocket'],
    ['X-E-At', 'https:443'],
    ['x-e-simulate', 'x'],
    ['X-Accel-Redirect', '/'],
    ['X Y', 'a'],
    ['X:Y', 'a'],
    ['', 'a'],
    ['X\r\nY', 'a'],
    ['X-Ok', 'a\r\nX-E-At: https:443'],
    ['X-Ok', 'a\nb'],
    ['X-Ok', 'a\0b'],
    ['X-Ok', '中'],
  ])('rejects the header %j: %j', (name, value) => {
    expect(accepts({ url, headers: [{ name, value }] })).toBe(false);
    expect(accepts({ url, answer: { headers: [{ name, value }] } })).toBe(false);
  });

  test('takes a body of 64 KiB in base64', () => {
    const withBody = (bytes: number) => accepts({ url, body: { base64: Buffer.alloc(bytes).toString('base64') } });
    expect([0, 1, 65_536].map(withBody)).toEqual([true, true, true]);
    expect(withBody(65_540)).toBe(false);
    expect(accepts({ url, body: null })).toBe(true);
    for (const base64 of ['id=1', 'YQ', null]) expect(accepts({ url, body: { base64 } }), String(base64)).toBe(false);
  });

  test('is limited to a hundred headers of sixteen kilobytes, a valid address and a valid status', () => {
    const field = (value: string) => ({ name: 'X-A', value });
    expect(accepts({ url, headers: Array.from({ length: 100 }, () => field('a')) })).toBe(true);
    expect(accepts({ url, headers: Array.from({ length: 101 }, () => field('a')) })).toBe(false);
    expect(accepts({ url, headers: Array.from({ length: 5 }, () => field('a'.repeat(4096))) })).toBe(false);
    for (const [ip, good] of [
      ['2001:db8::1', true],
      ['192.0.2.1', true],
      ['192.0.2.1, 1.2.3.4', false],
      ['unix:', false],
      ['', false],
    ] as const)
      expect(accepts({ url, ip }), ip).toBe(good);
    for (const [status, good] of [
      [200, true],
      [599, true],
      [304, false],
      [101, false],
      [999, false],
    ] as const)
      expect(accepts({ url, answer: { status } }), String(status)).toBe(good);
    expect(accepts({ url, method: 'TRACE' })).toBe(false);
    expect(accepts({ url, method: 'GET /x HTTP/1.1\r\n' })).toBe(false);
  });
});
