import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import { requestWithHost } from '../support/assertions/request-with-host.ts';

const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-console-'));
await mkdir(path.join(dir, 'assets'));
const shell = '<!doctype html><head><link rel="icon" href="/mark.svg" /><title>console</title></head>';
const script = 'console.log(1);'.repeat(100);
await Promise.all([
  writeFile(path.join(dir, 'index.html'), shell),
  writeFile(path.join(dir, 'assets/main-abcd1234.js'), script),
  writeFile(path.join(dir, 'assets/main-abcd1234.js.br'), brotliCompressSync(script)),
  writeFile(path.join(dir, 'assets/main-abcd1234.js.gz'), gzipSync(script)),
  writeFile(path.join(dir, '.secret'), 'hidden'),
]);
const app = await testApp({ CONSOLE_DIR: dir });
afterAll(async () => {
  await app.close();
  await rm(dir, { recursive: true });
});

const get = async (url: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(url, { redirect: 'manual', headers });
  return { status: answer.status, text: await answer.text(), header: (name: string) => answer.headers.get(name) };
};

test.each(['/user/', '/client/login', '/client/nodeManage/sitesSetting/1/shop/www.example.com'])(
  '%s is the console',
  async (address) => {
    const { status, text, header } = await get(app.url + address);
    expect([status, text, header('content-type')]).toEqual([200, shell, 'text/html; charset=utf-8']);
    expect(header('cache-control')).toBe('no-cache');
    expect(header('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    expect(header('x-content-type-options')).toBe('nosniff');
  },
);

test("the root redirects to the listener's console", async () => {
  expect((await get(`${app.url}/`)).header('location')).toBe('/user/');
  expect((await get(`${app.url}/client`)).header('location')).toBe('/client/');
  expect((await get(`${app.adminUrl}/`)).header('location')).toBe('/admin/');
  expect((await get(`${app.adminUrl}/admin/login`)).status).toBe(200);
  expect((await get(`${app.adminUrl}/client/login`)).status).toBe(404);
});

test('an unknown URL in a browser redirects to the start page', async () => {
  const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  for (const [base, door] of [
    [app.url, '/user/'],
    [app.adminUrl, '/admin/'],
  ] as const) {
    expect(await get(`${base}/no/such/page`, browser)).toMatchObject({ status: 302 });
    expect((await get(`${base}/no/such/page`, browser)).header('location')).toBe('/');
    expect((await get(`${base}/`)).header('location')).toBe(door);
  }
  expect((await get(`${app.url}/assets/main-old00000.js`, browser)).status).toBe(404);
  expect((await get(`${app.url}/client/admin/x`, browser)).status).toBe(404);
  expect((await get(`${app.url}/no/such/page`)).status).toBe(404);
});

describe('hashed files', () => {
  test.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['br, gzip', 'br'],
    ['identity', null],
  ])('are cached forever and served as %s', async (accepted, encoding) => {
    const { text, header } = await get(`${app.url}/assets/main-abcd1234.js`, { 'accept-encoding': accepted });
    expect([text, header('content-encoding'), header('vary')]).toEqual([script, encoding, 'accept-encoding']);
    expect(header('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(header('content-type')).toMatch(/^text\/javascript|^application\/javascript/);
  });

  test('return 404 when missing, so that an old tab notices', async () => {
    expect((await get(`${app.url}/assets/main-old00000.js`)).status).toBe(404);
  });
});

test('hidden files and files outside of the folder are not served', async () => {
  for (const address of [
    '/.secret',
    '/../package.json',
    '/%2e%2e/package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets/',
  ])
    expect((await get(app.url + address)).status).toBe(404);
});

test('the public listener answers /admin/ with a 404 that leads to the 404 page', async () => {
  const { status, text } = await get(`${app.url}/admin/login`);
  expect(status).toBe(404);
  expect(text).toContain('url=/404');
  expect(await get(`${app.url}/404`)).toMatchObject({ status: 404, text: shell });
});

describe("at a client's own host name", () => {
  const hostile = `"><script>alert(1)</script>' $& $1`;

  test('the page is branded from its first byte, with the same CSP', async () => {
    const { clientId } = await app.build.client();
    await app.installation.db.branding.create({
      data: {
        clientId,
        host: 'console.glow.test',
        title: hostile,
        images: { create: { slot: 'favicon', hash: 'a'.repeat(64), format: 'png', bytes: Buffer.from('x') } },
      },
    });
    const plain = await requestWithHost('other.glow.test', `${app.url}/user/login`);
    const { status, text, headers } = await requestWithHost('console.glow.test:8080', `${app.url}/user/login`);
    expect([plain.text, status]).toEqual([shell, 200]);
    for (const name of ['content-security-policy', 'cache-control', 'content-type', 'x-content-type-options'])
      expect(headers[name]).toBe(plain.headers[name]);
    const escaped = hostile.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
    expect(text).toContain(`<title>${escaped}</title>`);
    expect(text).toContain(`<link rel="icon" href="/branding/${'a'.repeat(64)}.png" />`);
    expect(text).not.toContain('<script');
    expect(text).toMatch(/<meta name="branding" content="[^"]+" \/><\/head>$/);
  });
});
