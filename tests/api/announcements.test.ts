import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { announcements, announcementSetting } from '@edgeloom/contract/announcements/announcements.endpoints.ts';
import { permissions } from '@edgeloom/contract/permissions.ts';
import { testApp } from '../support/services/app.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { as, build } = app;
afterAll(() => app.close());
afterEach(() => vi.useRealTimers());

const minutes = (count: number) => new Date(Date.now() + count * 60_000).toISOString();
const write = (
  who: SignedInAccount,
  title: string,
  more: { start?: string; end?: string | null; order?: number } = {},
) => as(who).call(announcementSetting.create, { body: { title, content: 'text', start: minutes(-1), ...more } });
const seenBy = async (who: SignedInAccount) => (await as(who).call(announcements.list)).data.map(({ title }) => title);
const listed = async (who: SignedInAccount) =>
  (await as(who).call(announcementSetting.list)).data.map(({ title, orderNum }) => `${orderNum} ${title}`);

test("an announcement is shown to the operator's accounts and customers only", async () => {
  const tenant = await build.client();
  const site = await build.site({ product: await build.product({ zone: await build.zone({ tenant }) }) });
  await write(tenant.client, 'news');
  const sub = await build.subClient(tenant, [], {});
  const subUser = await build.subUser(site.owner, [site], {});
  for (const reader of [tenant.client, sub, site.owner, subUser]) expect(await seenBy(reader)).toEqual(['news']);
  const strangers = [(await build.client()).client, await build.user(await build.client()), await build.admin()];
  for (const stranger of strangers) expect(await seenBy(stranger)).toEqual([]);
});

test('it is shown from its start until its end', async () => {
  const tenant = await build.client();
  await write(tenant.client, 'now', { start: minutes(0), end: minutes(4) });
  await write(tenant.client, 'later', { start: minutes(2) });
  const at = (count: number) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(minutes(0)) + count * 60_000 });
  };
  expect(await seenBy(tenant.client)).toEqual(['now']);
  at(3);
  expect(await seenBy(tenant.client)).toEqual(['now', 'later']);
  at(2);
  expect(await seenBy(tenant.client)).toEqual(['later']);
});

test('an end before the start is rejected', async () => {
  const { client } = await build.client();
  const refusal = { errorData: [expect.objectContaining({ path: 'end', rule: 'window' })] };
  await expect(write(client, 'x', { end: minutes(-1) })).toFail('PARAMETER', refusal);
  const { id } = await write(client, 'x', { end: minutes(5) });
  await expect(as(client).call(announcementSetting.update, { body: { id, start: minutes(6) } })).toFail(
    'PARAMETER',
    refusal,
  );
});

describe('the order', () => {
  test('is that of creation until an announcement is moved', async () => {
    const { client } = await build.client();
    const [a, b, c] = [await write(client, 'a'), await write(client, 'b'), await write(client, 'c')];
    expect([a, b, c].map(({ orderNum }) => orderNum)).toEqual([1, 2, 3]);
    const moved = await as(client).call(announcementSetting.update, { body: { id: c.id, order: 1 } });
    expect(moved.orderNum).toBe(1);
    expect(await listed(client)).toEqual(['1 c', '2 a', '3 b']);
    await write(client, 'd', { order: 2 });
    expect(await listed(client)).toEqual(['1 c', '2 d', '3 a', '4 b']);
    expect(await seenBy(client)).toEqual(['c', 'd', 'a', 'b']);
  });

  test('has no gaps after removals, and new announcements come last', async () => {
    const { client } = await build.client();
    const made = [];
    for (const title of ['a', 'b', 'c', 'd']) made.push(await write(client, title));
    await as(client).call(announcementSetting.remove, { body: { ids: made.slice(0, 2).map(({ id }) => id) } });
    await write(client, 'e');
    expect(await listed(client)).toEqual(['1 c', '2 d', '3 e']);
    await as(client).call(announcementSetting.update, { body: { id: made[3]?.id ?? '', order: 99 } });
    expect(await listed(client)).toEqual(['1 c', '2 e', '3 d']);
  });

  test('stays consistent under concurrent changes', async () => {
    const { client } = await build.client();
    const made = [];
    for (const title of ['a', 'b', 'c', 'd', 'e']) made.push(await write(client, title));
    await Promise.all(
      made.map(({ id }, i) => as(client).call(announcementSetting.update, { body: { id, order: 5 - i } })),
    );
    const after = await listed(client);
    expect(after.map((line) => line.split(' ')[0])).toEqual(['1', '2', '3', '4', '5']);
    expect(after.map((line) => line.split(' ')[1]).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });
});

test('another operator cannot read, change or remove it; a customer cannot create one', async () => {
  const [tenant, other] = [await build.client(), await build.client()];
  const { id } = await write(tenant.client, 'news');
  expect(await listed(other.client)).toEqual([]);
  await expect(as(other.client).call(announcementSetting.update, { body: { id, title: 'x' } })).toFail('NOT_FOUND');
  await expect(as(other.client).call(announcementSetting.remove, { body: { ids: [id] } })).toFail('NOT_FOUND');
  const reader = await build.subClient(tenant, [], { permissions: ['announcement:read'] });
  expect(await listed(reader)).toEqual(['1 news']);
  await expect(write(reader, 'x')).toFail('PERMISSION_DENIED');
  const writer = await build.subClient(tenant, [], { permissions: [...permissions] });
  await write(writer, 'more');
  expect(await listed(tenant.client)).toEqual(['1 news', '2 more']);
});

test('its text is not markup, and control characters are rejected', async () => {
  const { client } = await build.client();
  const content = '<img src=x onerror=alert(1)>\nsecond line\t**bold**';
  const made = await as(client).call(announcementSetting.create, {
    body: { title: '<b>x</b>', content, start: minutes(-1) },
  });
  expect([made.title, made.content]).toEqual(['<b>x</b>', content]);
  await expect(
    as(client).call(announcementSetting.create, { body: { title: 'x', content: 'a\u0000b', start: minutes(0) } }),
  ).toFail('PARAMETER');
});
