// An operator's error pages for all of its sites.
import { afterAll, expect, test } from 'vitest';
import { DefaultErrorPageInput } from '@edgeloom/contract/default-error-pages/default-error-pages.ts';
import { defaultErrorPages } from '@edgeloom/contract/default-error-pages/default-error-pages.endpoints.ts';
import { ErrorPagesDoc } from '@edgeloom/contract/edge/documents.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { unique, type BuiltZone } from '../support/builders/build.ts';
import { compileBodies } from '../support/builders/compiled-documents.ts';
import { testApp } from '../support/services/app.ts';
import { publishZones } from '../support/services/background-work.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp();
afterAll(close);

const page = { code: 502 as const, type: 'content' as const, value: '<h1>later</h1>' };

test('a page is created, listed, changed and removed, and each change is published to all zones', async () => {
  const [zone, second] = [await build.zone(), await build.zone()];
  const other = await build.zone({ tenant: zone });
  const { call } = as(zone.client);
  const made = await call(defaultErrorPages.create, { body: page });
  expect(made).toMatchObject({ ...page, enabled: true, edgeOnly: true });
  await call(defaultErrorPages.create, { body: { ...page, code: 904 } });
  const changed = { id: made.id, code: 502 as const, type: 'javascript' as const, value: 'location.reload()' };
  // As a client of an earlier version does: edgeOnly is unchanged.
  expect(await call(defaultErrorPages.update, { body: changed })).toMatchObject({ ...changed, edgeOnly: true });
  const list = await call(defaultErrorPages.list, { query: { sortBy: 'code', orderBy: 'asc' } });
  expect(list).toMatchObject({ total: 2, data: [{ code: 502 }, { code: 904 }] });
  await call(defaultErrorPages.remove, { body: { ids: [made.id] } });
  for (const { id } of [zone, other])
    expect(await outboxKeys(installation, id)).toEqual(Array.from({ length: 4 }, () => 'errorPages'));
  expect(await outboxKeys(installation, second.id)).toEqual([]);
});

const pagesOf = async ({ id }: Pick<BuiltZone, 'id'>) => {
  const body = (await compileBodies(installation, id, ['errorPages'])).get('errorPages') ?? null;
  return body && ErrorPagesDoc.parse(JSON.parse(body)).pages;
};

test('the document of a zone has the enabled pages of its operator, and a zone without pages has none', async () => {
  const [zone, other] = [await build.zone(), await build.zone()];
  const { call } = as(zone.client);
  await call(defaultErrorPages.create, { body: page });
  await call(defaultErrorPages.create, { body: { ...page, code: 403, edgeOnly: false } });
  await call(defaultErrorPages.create, { body: { ...page, code: 500, enabled: false } });
  expect(await pagesOf(zone)).toMatchObject([
    { code: 403, html: page.value },
    { code: 502, html: page.value, edgeOnly: true },
  ]);
  expect(await pagesOf(other)).toBeNull();
});

test('a later zone of the operator receives the pages', async () => {
  const zone = await build.zone();
  const { call } = as(zone.client);
  await call(defaultErrorPages.create, { body: page });
  const { id } = await call(zones.create, { body: { name: unique('zone'), ports: [] } });
  expect((await outboxKeys(installation, id)).toSorted()).toEqual(['errorPages', 'zone']);
});

test('pages are published again where an earlier version has dropped the change', async () => {
  const [zone, other] = [await build.zone(), await build.zone()];
  await as(zone.client).call(defaultErrorPages.create, { body: page });
  await installation.db.outbox.deleteMany({ where: { zoneId: zone.id } });
  await publishZones(installation.pool);
  expect((await outboxKeys(installation, zone.id)).toSorted()).toEqual(['errorPages', 'zone']);
  expect(await outboxKeys(installation, other.id)).toEqual(['zone']);
});

test('an operator has one page per code, also under concurrent requests', async () => {
  const { client } = await build.client();
  const { call } = as(client);
  const make = () => call(defaultErrorPages.create, { body: page });
  const outcomes = await Promise.allSettled([make(), make(), make()]);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await expect(make()).toFail('DUPLICATED');
  const { id } = await call(defaultErrorPages.create, { body: { ...page, code: 403 } });
  await expect(call(defaultErrorPages.update, { body: { ...page, id } })).toFail('DUPLICATED');
});

test.each([
  [{ ...page, value: '' }, 'value'],
  [{ ...page, type: 'redirect' as const, value: 'javascript:alert(1)' }, 'value'],
  [{ ...page, type: 'javascript' as const, value: 'x = "</SCRIPT>"' }, 'value'],
])('an invalid page is rejected at its field: %j', async (body, path) => {
  const { client } = await build.client();
  const refused = as(client).call(defaultErrorPages.create, { body });
  await expect(refused).toFail('PARAMETER', { errorData: [expect.objectContaining({ path })] });
});

// The page of a challenge runs it, so no other page can replace it.
test.each([978, 404, 200])('%d cannot have a page', (code) => {
  expect(DefaultErrorPageInput.safeParse({ ...page, code }).success).toBe(false);
});

test('a page for all sites is written by accounts that see all zones', async () => {
  const zone = await build.zone();
  const sub = await build.subClient(zone, [zone], { permissions: ['setting:read', 'setting:write'] });
  const { call } = as(sub);
  const { id } = await call(defaultErrorPages.create, { body: page });
  await build.zone({ tenant: zone });
  await expect(call(defaultErrorPages.create, { body: { ...page, code: 403 } })).toFail('PERMISSION_DENIED');
  await expect(call(defaultErrorPages.update, { body: { ...page, id } })).toFail('PERMISSION_DENIED');
  await expect(call(defaultErrorPages.remove, { body: { ids: [id] } })).toFail('PERMISSION_DENIED');
  expect(await call(defaultErrorPages.list)).toMatchObject({ data: [{ id }], total: 1 });
});

test('a page for a code of a later version is not listed', async () => {
  const { client, clientId } = await build.client();
  const { call } = as(client);
  await call(defaultErrorPages.create, { body: page });
  const later = { clientId, code: 599, type: 'content', value: 'later', enabled: true, edgeOnly: true };
  await installation.db.defaultErrorPage.create({ data: later });
  expect(await call(defaultErrorPages.list)).toMatchObject({ data: [{ code: 502 }], total: 1 });
});
