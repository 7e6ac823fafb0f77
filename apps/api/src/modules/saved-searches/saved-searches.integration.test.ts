import { savedSearches } from '@edgeloom/contract/saved-searches/saved-searches.endpoints.ts';
import { SAVED_SEARCHES } from '@edgeloom/contract/saved-searches/saved-searches.ts';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../../../../../tests/support/services/app.ts';

const app = await testApp();
const { as, build, installation } = app;
afterAll(() => app.close());

test('a saved search belongs to its account, by a name that is unique there', async () => {
  const site = await build.site();
  const body = { name: 'Errors', filter: { status: ['5xx'], not: { uri: ['/health'] } } };
  const saved = await as(site.owner).call(savedSearches.create, { body });
  await expect(as(site.owner).call(savedSearches.create, { body })).rejects.toMatchObject({
    envelope: { code: 101_025 },
  });
  await as(site.client).call(savedSearches.create, { body });
  const renamed = { ...body, id: saved.id, name: 'All errors' };
  expect(await as(site.owner).call(savedSearches.update, { body: renamed })).toMatchObject(renamed);
  const foreign = { body: { ids: [saved.id] } };
  await expect(as(site.client).call(savedSearches.remove, foreign)).rejects.toMatchObject({ status: 404 });
  await expect(as(site.client).call(savedSearches.update, { body: renamed })).rejects.toMatchObject({ status: 404 });
  expect((await as(site.owner).call(savedSearches.list)).data).toMatchObject([renamed]);
  await as(site.owner).call(savedSearches.remove, foreign);
  expect((await as(site.owner).call(savedSearches.list)).data).toEqual([]);
});

test('an account has a limited number of them', async () => {
  const { owner } = await build.site();
  const rows = Array.from({ length: SAVED_SEARCHES - 1 }, (_, i) => ({
    accountId: owner.id,
    name: `${i}`,
    filter: {},
  }));
  await installation.db.savedSearch.createMany({ data: rows });
  const call = (name: string) => as(owner).call(savedSearches.create, { body: { name, filter: {} } });
  const done = await Promise.allSettled(['a', 'b', 'c'].map(call));
  expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});
