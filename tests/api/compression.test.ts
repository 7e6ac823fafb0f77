import { compression } from '@edgeloom/contract/compression/compression.endpoints.ts';
import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { clientSites, sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

test('a new site compresses text, and a copy of the setting of an older site turns it off', async () => {
  const older = await build.site();
  const { call } = as(older.client);
  const { id } = await call(clientSites.create, { body: { name: 'New', productID: older.productId } });
  const params = { siteId: id };
  const before = await call(compression.get, { params });
  expect(before).toEqual({ ...(await call(compression.get, { params: older.params })), gzip: true, brotli: true });
  expect(await call(sites.settingsInUse, { params })).toMatchObject({ compression: true });
  await call(copies.settings, { params: older.params, body: { siteIDs: [id], settings: ['gzip'] } });
  expect(await call(compression.get, { params })).toMatchObject({ gzip: false, brotli: false });
});

test('an older site stays without compression, and the setting is stored and published', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  const before = await call(compression.get, { params });
  expect(before).toMatchObject({ gzip: false, brotli: false, minBytes: 1024 });
  expect(before.types).toContain('text/html');
  const body = { gzip: true, brotli: true, types: ['Text/HTML', 'text/html', 'text/css'], minBytes: 0 };
  const expected = { ...before, ...body, types: ['text/html', 'text/css'] };
  for (let i = 0; i < 2; i += 1) expect(await call(compression.update, { params, body })).toEqual(expected);
  expect(await call(compression.get, { params })).toEqual(expected);
  expect(await outboxKeys(installation, site.zoneId)).toEqual([siteKey(site.id), siteKey(site.id)]);
});

test('WebP is off by default', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  const before = await call(compression.get, { params });
  expect(before).toMatchObject({ webp: false, webpQuality: 80, webpTypes: ['image/jpeg', 'image/png'] });
  const { gzip, brotli, types, minBytes } = before;
  const webpSettings = { webp: true, webpQuality: 60, webpMinBytes: 0, webpMaxBytes: 20_971_520 };
  const body = { ...before, ...webpSettings, webpTypes: ['image/png' as const, 'image/png' as const] };
  const expected = { ...before, ...webpSettings, webpTypes: ['image/png'] };
  expect(await call(compression.update, { params, body })).toEqual(expected);
  const withoutWebp = { gzip: !gzip, brotli, types, minBytes };
  expect(await call(compression.update, { params, body: withoutWebp })).toEqual({ ...expected, gzip: !gzip });
  expect(await call(compression.get, { params })).toEqual({ ...expected, gzip: !gzip });
});

test('stored values are returned as they are', async () => {
  const site = await build.site();
  const { call } = as(site.owner);
  const { params } = site;
  await call(compression.update, { params, body: await call(compression.get, { params }) });
  await installation.db.compression.update({ where: { siteId: site.id }, data: { types: ['no type'] } });
  expect(await call(compression.get, { params })).toMatchObject({ types: ['no type'] });
});

test.each([
  [{ webpQuality: 0 }, 'webpQuality'],
  [{ webpQuality: 101 }, 'webpQuality'],
  [{ webpTypes: [] }, 'webpTypes'],
  [{ webpMaxBytes: 20_971_521 }, 'webpMaxBytes'],
  [{ types: [] }, 'types'],
  [{ types: ['text'] }, 'types.0'],
  [{ types: ['text/html; charset=utf-8'] }, 'types.0'],
  [{ minBytes: -1 }, 'minBytes'],
])('an impossible value is rejected: %j', async (wrong, path) => {
  const site = await build.site();
  const body = { gzip: true, brotli: true, types: ['text/css'], minBytes: 0, ...wrong };
  await expect(as(site.owner).call(compression.update, { params: site.params, body })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path })],
  });
});
