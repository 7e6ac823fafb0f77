// A bulk action is one entry of the audit log, whatever number of calls it takes.
import { afterAll, describe, expect, test } from 'vitest';
import { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { build, installation } = app;
const { pool } = installation;
afterAll(() => app.close());

const as = (who: SignedInAccount) => app.as(who).call;
const search = (who: SignedInAccount, body: object = {}) => as(who)(audit.search, { body });

describe('an action of several calls', () => {
  const rename = (zone: { id: string; client: SignedInAccount }, memo: string, actionId?: string) =>
    as(zone.client)(zones.update, { body: { id: zone.id, memo } }, { actionId });
  const detail = (who: SignedInAccount, reqID: string, query = {}) => as(who)(audit.get, { params: { reqID }, query });

  /** Stores calls as the API does. No test sends thousands of domains. */
  async function storeCalls(site: Awaited<ReturnType<typeof build.site>>, actionId: string, calls: [number, number][]) {
    const { clientId, owner } = site;
    for (const [count, status] of calls) {
      const call = {
        reqID: crypto.randomUUID(),
        method: 'DELETE',
        path: `/api/v1/user/site/${site.id}/domains`,
        address: '192.0.2.1',
        email: owner.email,
        clientId,
        rootId: owner.id,
        accountId: owner.id,
        actionId,
        context: { count, names: [], values: {}, device: 'test', ...(status >= 400 && { code: 101_003 }) },
      };
      await pool.query('SELECT audit_append($1, $2)', [JSON.stringify(call), status]);
    }
  }

  test('is one row with the whole count, and lists its calls', async () => {
    const site = await build.site();
    await storeCalls(site, crypto.randomUUID(), [
      [500, 200],
      [500, 409],
      [498, 200],
      [200, 200],
    ]);
    const { data, total } = await search(site.owner);
    expect(total).toBe(1);
    expect(data).toMatchObject([{ operation: 'domains.remove', status: 200, callCount: 4, failedCount: 1 }]);
    expect(data[0]?.targets).toMatchObject([{ kind: 'domains', count: 1198 }]);
    const { calls } = await detail(site.owner, data[0]?.id ?? '');
    expect(calls.map(({ status }) => status)).toEqual([200, 409, 200, 200]);
    for (const { reqID } of calls) {
      expect(await detail(site.owner, reqID)).toMatchObject({ callCount: 4, targets: [{ count: 1198 }] });
      expect((await search(site.owner, { reqID })).data).toMatchObject([{ reqID, callCount: 1 }]);
    }
    const [, failed] = calls;
    const alone = await detail(site.owner, failed?.reqID ?? '', { detail: 'calls' });
    expect(alone).toMatchObject({ status: 409, callCount: 1, calls: [{ status: 409 }], targets: [{ count: 500 }] });
    expect((await search(site.owner, { detail: 'calls' })).total).toBe(4);
    expect((await search(site.owner, { outcome: 'failed' })).data).toMatchObject([{ callCount: 4, failedCount: 1 }]);
  });

  test('of which every call failed has no number, since failed calls may overlap', async () => {
    const site = await build.site();
    await storeCalls(site, crypto.randomUUID(), [
      [2, 409],
      [1, 409],
      [1, 409],
    ]);
    const { data } = await search(site.owner);
    expect(data).toMatchObject([{ status: 409, code: 101_003, callCount: 3, failedCount: 3, targets: [{ count: 0 }] }]);
  });

  test('is one row of a page and of the total, however many calls it has', async () => {
    const site = await build.site();
    const single: [number, number][] = [[1, 200]];
    const several: [number, number][] = [...single, ...single, ...single];
    for (const calls of [single, several, single, several, single]) await storeCalls(site, crypto.randomUUID(), calls);
    const pages = await Promise.all([1, 2, 3, 4].map((page) => search(site.owner, { page, pageSize: 2 })));
    expect(pages.map(({ total }) => total).slice(0, 3)).toEqual([5, 5, 5]);
    expect(pages.map(({ data }) => data.length)).toEqual([2, 2, 1, 0]);
    const rows = pages.flatMap(({ data }) => data);
    expect(rows.map(({ callCount }) => callCount).toSorted()).toEqual([1, 1, 1, 3, 3]);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(5);
  });

  test('has the changes of all of them', async () => {
    const zone = await build.zone();
    const actionId = crypto.randomUUID();
    for (const memo of ['a', 'b', 'c']) await rename(zone, memo, actionId);
    const { data } = await search(zone.client);
    expect(data).toMatchObject([{ operation: 'zones.update', callCount: 3, changeCount: 3 }]);
    const { changes } = await detail(zone.client, data[0]?.id ?? '');
    expect(changes.map(({ count, rows }) => [count, rows.map(({ after }) => after)])).toEqual([
      [3, [{ memo: 'a' }, { memo: 'b' }, { memo: 'c' }]],
    ]);
  });

  test('does not take in another action, a call without an id, another kind of call or an opposite switch', async () => {
    const zone = await build.zone();
    const site = await build.site();
    const [actionId, other] = [crypto.randomUUID(), crypto.randomUUID()];
    await rename(zone, 'a', actionId);
    await rename(zone, 'b', actionId.toUpperCase());
    await rename(zone, 'c', other);
    await rename(zone, 'd');
    await as(zone.client)(zones.create, { body: { name: unique('zone') } }, { actionId });
    const { data } = await search(zone.client, { accountName: zone.client.email });
    expect(data.map(({ operation, callCount }) => [operation, callCount])).toEqual([
      ['zones.create', 1],
      ['zones.update', 1],
      ['zones.update', 1],
      ['zones.update', 2],
    ]);

    const { ids } = await as(site.owner)(domains.create, {
      params: site.params,
      body: { domains: [{ name: `${unique('n')}.example.com`, upstreams: [{ address: '192.0.2.1', port: 80 }] }] },
    });
    for (const enabled of [false, true])
      await as(site.owner)(domains.status, { params: site.params, body: { ids, enabled } }, { actionId });
    const switches = (await search(site.owner, { url: 'status' })).data;
    expect(switches.map(({ values, callCount }) => [values['enabled'], callCount])).toEqual([
      [true, 1],
      [false, 1],
    ]);
  });

  test('does not take in calls of another account that sends the same id', async () => {
    const zone = await build.zone();
    const sub = await build.subClient(zone, [zone], { permissions: ['zone:write'] });
    const actionId = crypto.randomUUID();
    for (const client of [zone.client, sub, zone.client, sub, sub])
      await rename({ id: zone.id, client }, unique('memo'), actionId);
    const { data } = await search(zone.client);
    expect(data.map(({ email, callCount }) => [email, callCount])).toEqual([
      [sub.email, 3],
      [zone.client.email, 2],
    ]);
  });

  test('is refused with an id that is no UUID', async () => {
    const zone = await build.zone();
    await expect(rename(zone, 'a', 'all of them')).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: 'Action-Id', rule: 'format' })],
    });
  });
});
