import { crc32, deflateSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { branding, shownBranding } from '@edgeloom/contract/branding/branding.endpoints.ts';
import { brandLimits } from '@edgeloom/contract/branding/branding.ts';
import { namedCasesOfRun } from '../support/builders/long-run.ts';
import { testApp } from '../support/services/app.ts';
import { requestWithHost } from '../support/assertions/request-with-host.ts';
import { unique, type Tenant } from '../support/builders/build.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { as, build } = app;
afterAll(() => app.close());

const host = () => `${unique('console')}.example.com`;

function png(width = 2, height = 2): Uint8Array<ArrayBuffer> {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, check]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([8, 0], 8);
  // A decompression bomb: the header claims a size that the data does not have.
  const rows = deflateSync(Buffer.alloc(Math.min(height, 64) * (width + 1)));
  return new Uint8Array(
    Buffer.concat([
      Buffer.from('89504e470d0a1a0a', 'hex'),
      chunk('IHDR', head),
      chunk('IDAT', rows),
      chunk('IEND', Buffer.alloc(0)),
    ]),
  );
}
const file = (content: string | Uint8Array<ArrayBuffer>, type = 'image/png', name = 'logo.png') =>
  new File([content], name, { type });
const svg = (inner: string, root = '') =>
  file(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"${root}>${inner}</svg>`, 'image/svg+xml', 'logo.svg');

const make = ({ client }: Tenant, body: Parameters<typeof upload>[1] = {}) => upload(client, body);
const upload = (who: Tenant['client'], body: { host?: string; title?: string; logo?: File; favicon?: File }) =>
  as(who).call(branding.create, { body: { host: host(), ...body } });

const open = (address: string | null) => fetch(`${app.url}${address}`, { redirect: 'manual' });
const textOf = async (address: string | null) => (await open(address)).text();

const lookAt = async (name: string, family: 'user' | 'client' = 'user') =>
  shownBranding.get.reply.parse(JSON.parse((await requestWithHost(name, `${app.url}/api/v1/${family}/logo`)).text));

describe('a branding', () => {
  test('is public under its host name', async () => {
    const tenant = await build.client();
    const made = await make(tenant, { title: 'Glow', logo: file(png()) });
    for (const family of ['user', 'client'] as const)
      expect(await lookAt(made.host, family)).toMatchObject({ title: 'Glow', logo: made.logo, favicon: null });
    expect(await lookAt(`${made.host.toUpperCase()}:8443`)).toMatchObject({ title: 'Glow' });
  });

  test('is not shown under other host names or without one', async () => {
    const [one, other] = [
      await make(await build.client(), { title: 'One' }),
      await make(await build.client(), { title: 'Other' }),
    ];
    expect((await lookAt(one.host)).title).toBe('One');
    expect((await lookAt(other.host)).title).toBe('Other');
    const nobody = {
      title: '',
      copyright: '',
      logo: null,
      favicon: null,
      backgroundImage: null,
      sidebarLogo: null,
      sidebarSimpleLogo: null,
    };
    expect(await lookAt('unknown.example.com')).toEqual(nobody);
    expect(await lookAt(`x.${one.host}`)).toEqual(nobody);
  });

  test("does not apply to the installation's own hosts", async () => {
    const { host: name } = await make(await build.client(), { title: 'Mine' });
    const { text } = await requestWithHost(name, `${app.adminUrl}/api/v1/admin/logo`);
    expect(shownBranding.get.reply.parse(JSON.parse(text)).title).toBe('');
  });

  test('has a unique host name that is not the installation’s', async () => {
    const { host: taken } = await make(await build.client());
    for (const host of [taken, taken.toUpperCase()])
      await expect(make(await build.client(), { host })).toFail('DUPLICATED');
    for (const bad of ['127.0.0.1', '*.example.com', 'no-dot', 'a b.example.com'])
      await expect(make(await build.client(), { host: bad })).toFail('PARAMETER');
  });

  test('cannot use the name shared by all operators', async () => {
    const shared = await testApp({ PUBLIC_URL: 'https://shared.example.com', ADMIN_URL: 'https://admin.example.com' });
    const { client } = await shared.build.client();
    for (const taken of ['shared.example.com', 'admin.example.com'])
      await expect(shared.as(client).call(branding.create, { body: { host: taken } })).toFail('PARAMETER', {
        errorData: [expect.objectContaining({ path: 'host', rule: 'taken' })],
      });
    await shared.close();
  });

  test('is updated by field: an omitted picture stays, an empty one is removed', async () => {
    const { client } = await build.client();
    const made = await upload(client, { title: 'Glow', logo: file(png(7, 5)), favicon: file(png(3, 3)) });
    const updated = await as(client).call(branding.update, { body: { id: made.id, title: 'New' } });
    expect(updated).toMatchObject({ host: made.host, title: 'New', logo: made.logo, favicon: made.favicon });
    const bare = await as(client).call(branding.update, { body: { id: made.id, logo: '' } });
    expect(bare).toMatchObject({ title: 'New', logo: null, favicon: made.favicon });
    expect((await open(made.logo)).status).toBe(404);
  });

  test('is deleted with its pictures', async () => {
    const { client } = await build.client();
    const made = await upload(client, { logo: file(png(9, 5)) });
    await as(client).call(branding.remove, { body: { ids: [made.id] } });
    expect((await open(made.logo)).status).toBe(404);
    expect((await as(client).call(branding.list)).total).toBe(0);
  });

  test('is limited to fifty', async () => {
    const tenant = await build.client();
    await app.installation.db.branding.createMany({
      data: Array.from({ length: 50 }, () => ({ clientId: tenant.clientId, host: host() })),
    });
    await expect(make(tenant)).toFail('PARAMETER');
    const first = await as(tenant.client).call(branding.list);
    expect([first.data.length, first.total]).toEqual([10, 50]);
  });
});

describe('a picture', () => {
  test('is immutable under a content-hashed URL, and cannot run script', async () => {
    const { logo } = await make(await build.client(), { logo: file(png()) });
    const answer = await open(logo);
    expect([answer.status, Buffer.from(await answer.bytes())]).toEqual([200, Buffer.from(png())]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    });
  });

  test('is served with its real type, whatever its name', async () => {
    const { logo } = await make(await build.client(), { logo: file(png(), 'text/html', 'x.html') });
    expect(logo).toMatch(/\.png$/);
    expect((await open(logo)).headers.get('content-type')).toBe('image/png');
    // The file is not served under another type.
    expect((await open(logo?.replace('.png', '.svg') ?? null)).status).toBe(404);
  });

  test.each([
    ['a page', file('<!doctype html><script>alert(1)</script>')],
    ['a script', file('alert(1)', 'image/png')],
    [
      'a GIF',
      file(
        Buffer.from('47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b', 'hex'),
        'image/gif',
      ),
    ],
    ['half a PNG', file(png().slice(0, 20))],
    [
      'a page that begins like an SVG',
      file(
        '<html><body><svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/><script>alert(1)</script></body></html>',
        'image/svg+xml',
      ),
    ],
    [
      'an SVG of another kind',
      file('<x:svg xmlns:x="http://www.w3.org/2000/svg" width="1" height="1"/>', 'image/svg+xml'),
    ],
    [
      'an SVG without an end',
      file('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><g>', 'image/svg+xml'),
    ],
    [
      'an SVG that is no text',
      file(Buffer.from([...Buffer.from('<svg width="1" height="1">'), 0xff, 0xfe]), 'image/svg+xml'),
    ],
  ])('is not %s', async (_, logo) => {
    await expect(make(await build.client(), { logo })).toFail('PARAMETER');
  });

  test('with trailing data is served as a picture only', async () => {
    const both = new Uint8Array(Buffer.concat([png(), Buffer.from('<script>alert(1)</script>PK\u0003\u0004')]));
    const { logo } = await make(await build.client(), { logo: file(both) });
    expect((await open(logo)).headers.get('content-type')).toBe('image/png');
  });

  test('is limited in bytes and pixels', async () => {
    const { client } = await build.client();
    const large = file(new Uint8Array(Buffer.concat([png(), Buffer.alloc(brandLimits.favicon.bytes)])));
    await expect(upload(client, { favicon: large })).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: 'favicon', rule: 'size' })],
    });
    await expect(upload(client, { favicon: file(png(50_000, 50_000)) })).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: 'favicon', rule: 'pixels' })],
    });
    await expect(upload(client, { logo: file(new Uint8Array(3_000_000)) })).toFail('TOO_LARGE');
  });
});

describe('an SVG', () => {
  const cleaned = async (logo: File) => textOf((await make(await build.client(), { logo })).logo);

  test('keeps its drawing', async () => {
    const text = await cleaned(
      svg(
        '<style>.a{fill:#f00}</style><linearGradient id="g"><stop offset="0"/></linearGradient><rect class="a" width="5" height="5" fill="url(#g)"/><text>a &amp; b</text>',
      ),
    );
    for (const part of [
      '.a{fill:#f00}',
      '<linearGradient id="g">',
      'fill="url(#g)"',
      '<text>a &amp; b</text>',
      'viewBox="0 0 8 8"',
    ])
      expect(text).toContain(part);
  });

  test('with a plain doctype is accepted without it', async () => {
    const doctype =
      '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">';
    const text = await cleaned(
      file(`${doctype}<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><rect/></svg>`),
    );
    expect(text).toBe('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><rect/></svg>');
  });

  const evil = 'http://evil.example';
  const active = {
    'a script': '<script>alert(1)</script>',
    'a script of another name space': `<h:script xmlns:h="http://www.w3.org/1999/xhtml" src="${evil}/x"/>`,
    'a page in it': `<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="${evil}"/></foreignObject>`,
    'a handler': '<rect onclick="alert(1)" onload="alert(1)"/>',
    'a link': '<a href="javascript:alert(1)"><rect/></a>',
    'an old link': '<g xmlns:xlink="http://www.w3.org/1999/xlink"><a xlink:href="javascript:alert(1)"><rect/></a></g>',
    'another document used': `<use href="data:image/svg+xml;base64,PHN2Zz4=#a"/><use href="${evil}/x.svg#a"/>`,
    'another picture': `<image href="${evil}/x.png"/><image href="data:image/svg+xml,x"/><filter><feImage href="${evil}/x"/></filter>`,
    'a foreign style': `<style>@import url(${evil}/x.css);</style><rect fill="url(${evil}/x#y)" style="fill:url('${evil}/x')"/>`,
    'a hidden foreign style': `<style>rect{fill:u\\72l(${evil})}</style>`,
    'an animation of a link':
      '<animate attributeName="href" to="javascript:alert(1)"/><set attributeName="href" to="javascript:alert(1)"/>',
  };
  // Each picture is checked in a new thread, which takes most of a second.
  const pictures = { ...active, 'all of these': Object.values(active).join('') };
  test.each(namedCasesOfRun(pictures, ['all of these']))('loses %s', async (_, inner) => {
    const text = await cleaned(svg(`<rect width="1" height="1"/>${inner}`, ' onload="alert(1)"'));
    expect(text).toContain('<rect width="1" height="1"/>');
    expect(text).not.toMatch(/script|alert|evil|onload|onclick|iframe|data:|animate|<set|<use|<a[ >]|@import/i);
  });

  test.each([
    [
      'entities',
      '<!DOCTYPE svg [<!ENTITY a "x">]><svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><text>&a;</text></svg>',
    ],
    [
      'entities that multiply',
      `<!DOCTYPE svg [<!ENTITY a0 "x">${Array.from({ length: 12 }, (_, i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`).join('')}]><svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><text>&a12;</text></svg>`,
    ],
    [
      'a file of the server',
      '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><text>&a;</text></svg>',
    ],
    [
      'parts without number',
      `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1">${'<g/>'.repeat(6000)}</svg>`,
    ],
  ])('with %s is rejected', async (_, text) => {
    await expect(make(await build.client(), { logo: file(text, 'image/svg+xml') })).toFail('PARAMETER');
  });
});
