// Idempotency keys, and If-Match.
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';

const app = await testApp();
const { build, installation } = app;
const { db, pool } = installation;
afterAll(() => app.close());

const call = async (
  { token }: Pick<SignedInAccount, 'token'>,
  method: string,
  path: string,
  body: object | undefined,
  headers: Record<string, string> = {},
) => {
  const answer = await fetch(`${app.url}/api/v1/client/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body ? JSON.stringify(body) : null,
  });
  const text = await answer.text();
  const json: Record<string, unknown> = JSON.parse(text);
  return { status: answer.status, headers: answer.headers, text, json };
};
const keyed = (who: SignedInAccount, path: string, body: object, key: string) =>
  call(who, 'POST', path, body, { 'idempotency-key': key });
const refused = (rule: string) => ({ code: 101025, errorData: [{ path: 'Idempotency-Key', rule }] });

describe('a POST with an Idempotency-Key', () => {
  test('is executed once, and returns the same response again', async () => {
    const { client, clientId } = await build.client();
    const [key, body] = [randomUUID(), { name: unique('zone') }];
    const first = await keyed(client, 'zone', body, key);
    const second = await keyed(client, 'zone', body, key);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.text).toBe(first.text);
    expect([first, second].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    expect(await db.zone.count({ where: { clientId } })).toBe(1);
  });

  test('is executed once under concurrent repetition', async () => {
    const { client, clientId } = await build.client();
    const [key, body] = [randomUUID(), { name: unique('zone') }];
    const answers = await Promise.all(Array.from({ length: 10 }, () => keyed(client, 'zone', body, key)));
    expect(await db.zone.count({ where: { clientId } })).toBe(1);
    const refusals = answers.filter(({ status }) => status !== 200).map(({ json }) => json);
    expect(refusals).toMatchObject(refusals.map(() => refused('underWay')));
    expect(refusals.length).toBeLessThan(10);
  });

  test('is rejected if the key was used for another request', async () => {
    const { client } = await build.client();
    const key = randomUUID();
    await keyed(client, 'zone', { name: unique('zone') }, key);
    const other = await keyed(client, 'zone', { name: unique('zone') }, key);
    expect([other.status, other.json]).toMatchObject([409, refused('reused')]);
  });

  test('has keys per account', async () => {
    const [one, other] = [await build.client(), await build.client()];
    const key = randomUUID();
    const name = unique('zone');
    const answers = [await keyed(one.client, 'zone', { name }, key), await keyed(other.client, 'zone', { name }, key)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[0]?.json['id']).not.toBe(answers[1]?.json['id']);
  });

  test('frees its key when rejected', async () => {
    const zone = await build.zone();
    const key = randomUUID();
    const name = unique('zone');
    await keyed(zone.client, 'zone', { name }, randomUUID());
    expect((await keyed(zone.client, 'zone', { name }, key)).status).toBe(409);
    expect((await keyed(zone.client, 'zone', { name: '' }, key)).status).toBe(400);
    expect((await keyed(zone.client, 'zone', { name: unique('zone') }, key)).status).toBe(200);
  });

  test('of a crashed process is executed if it had changed nothing, and only then', async () => {
    const { client, clientId } = await build.client();
    const [lost, half] = [randomUUID(), randomUUID()];
    const body = { name: unique('zone') };
    await keyed(client, 'zone', body, lost);
    await keyed(client, 'zone', { name: unique('zone') }, half);
    // Simulates crashes before the response was stored, one of them before its transaction.
    const died = (key: string, reqId: string) =>
      pool.query(
        `UPDATE idempotent_calls SET status = NULL, answer = NULL, claimed_until = now() - interval '1 second', req_id = $3
         WHERE account_id = $1 AND key_hash = encode(sha256($2::bytea), 'hex')`,
        [client.id, key, reqId],
      );
    const rows = await db.auditRow.findMany({ where: { clientId }, orderBy: { seq: 'asc' } });
    await died(lost, randomUUID());
    await died(half, rows[1]?.reqId ?? '');
    await db.zone.deleteMany({ where: { clientId, name: body.name } });

    expect((await keyed(client, 'zone', body, lost)).status).toBe(200);
    const second = await db.zone.findFirstOrThrow({ where: { clientId, name: { not: body.name } } });
    const again = await keyed(client, 'zone', { name: second.name }, half);
    expect([again.status, again.json]).toMatchObject([
      409,
      { ...refused('answered'), extra: { reqID: rows[1]?.reqId } },
    ]);
    expect(await db.zone.count({ where: { clientId } })).toBe(2);
  });

  test('does not store responses with secrets, and is still executed once', async () => {
    const zone = await build.zone();
    const [key, body] = [randomUUID(), { name: unique('node'), ip: '192.0.2.9', zoneID: zone.id }];
    const first = await keyed(zone.client, 'node', body, key);
    expect(first.status).toBe(200);
    const row = await db.idempotentCall.findFirstOrThrow({ where: { accountId: zone.client.id } });
    expect([row.status, row.answer]).toEqual([200, null]);
    const again = await keyed(zone.client, 'node', body, key);
    expect([again.status, again.json]).toMatchObject([409, refused('answered')]);
    expect(await db.edgeNode.count({ where: { zoneId: zone.id } })).toBe(1);
  });

  test('may be repeated after a day', async () => {
    const { client } = await build.client();
    const key = randomUUID();
    await keyed(client, 'zone', { name: unique('zone') }, key);
    await db.idempotentCall.updateMany({
      where: { accountId: client.id },
      data: { createdAt: new Date(Date.now() - 25 * 3_600_000) },
    });
    expect((await keyed(client, 'zone', { name: unique('zone') }, key)).status).toBe(200);
  });

  test('has a key of 1 to 255 visible characters', async () => {
    const { client } = await build.client();
    for (const key of ['x'.repeat(256), 'a b'])
      expect((await keyed(client, 'zone', { name: unique('zone') }, key)).json).toMatchObject({
        code: 101003,
        errorData: [{ path: 'Idempotency-Key', rule: 'format' }],
      });
  });
});

describe('a PUT with If-Match', () => {
  const etag = async (who: SignedInAccount, path: string) =>
    (await call(who, 'GET', path, undefined)).headers.get('etag') ?? '';

  test('changes the expected version, and no other', async () => {
    const { zone, ...node } = await build.node();
    const { client } = zone;
    const seen = await etag(client, `node/${node.id}`);
    expect(seen).toBe(`"${node.updatedAt.toISOString()}"`);
    const body = { id: node.id, name: unique('node') };
    const first = await call(client, 'PUT', 'node', body, { 'if-match': seen });
    expect(first.status).toBe(200);
    expect(first.headers.get('etag')).toBe(await etag(client, `node/${node.id}`));

    const late = await call(client, 'PUT', 'node', { id: node.id, name: 'late' }, { 'if-match': seen });
    expect([late.status, late.json]).toMatchObject([
      412,
      { code: 101003, errorData: [{ path: 'If-Match', rule: 'changed' }] },
    ]);
    expect((await db.edgeNode.findUniqueOrThrow({ where: { id: node.id } })).name).toBe(body.name);
  });

  test('under concurrency succeeds once', async () => {
    const zone = await build.zone();
    const seen = `"${zone.updatedAt.toISOString()}"`;
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        call(zone.client, 'PUT', 'zone', { id: zone.id, memo: `${i}` }, { 'if-match': seen }),
      ),
    );
    const found = answers.map(({ status }) => status).toSorted();
    expect(found).toEqual([200, ...Array.from({ length: 9 }, () => 412)]);
  });

  test('accepts several tags and *; a weak tag never matches', async () => {
    const zone = await build.zone();
    const put = async (header: string) =>
      (await call(zone.client, 'PUT', 'zone', { id: zone.id, memo: unique('m') }, { 'if-match': header })).status;
    const now = async () => (await db.zone.findUniqueOrThrow({ where: { id: zone.id } })).updatedAt.toISOString();
    expect(await put(`"other", "${await now()}"`)).toBe(200);
    expect(await put('*')).toBe(200);
    expect(await put(`W/"${await now()}"`)).toBe(412);
    expect(await put('nonsense')).toBe(412);
  });

  test('is optional, and a foreign object is still not found', async () => {
    const [zone, foreign] = [await build.zone(), await build.zone()];
    expect((await call(zone.client, 'PUT', 'zone', { id: zone.id, memo: 'x' })).status).toBe(200);
    const tag = { 'if-match': '"2020-01-01T00:00:00.000Z"' };
    expect((await call(zone.client, 'PUT', 'zone', { id: foreign.id, memo: 'x' }, tag)).status).toBe(404);
  });

  test('checks only the object of the call', async () => {
    const zone = await build.zone();
    const second = await build.zone({ tenant: zone });
    const tag = { 'if-match': `"${second.updatedAt.toISOString()}"` };
    await db.zone.update({ where: { id: zone.id }, data: { memo: 'moved on' } });
    expect((await call(zone.client, 'PUT', 'zone', { id: second.id, memo: 'y' }, tag)).status).toBe(200);
  });

  test('accepts an object also as the only element of a list', async () => {
    const site = await build.site();
    const { id, updatedAt } = await build.cacheRule(site);
    const put = (header: string, cacheTime: number) => {
      const body = { rules: [{ id, type: 'fileType', value: ['css'], cacheTime }] };
      return call(site.client, 'PUT', `site/${site.id}/setting/cacheRules`, body, { 'if-match': header });
    };
    const first = await put(`"${updatedAt.toISOString()}"`, 5);
    expect([first.status, first.headers.get('etag')]).toEqual([200, expect.stringMatching(/^"2/)]);
    expect((await put(`"${updatedAt.toISOString()}"`, 6)).status).toBe(412);
    expect((await put(first.headers.get('etag') ?? '', 7)).status).toBe(200);
  });

  test('uses a time that grows with each change, however fast', async () => {
    const zone = await build.zone();
    const at = new Date();
    const times = [];
    for (let i = 0; i < 5; i += 1)
      times.push(
        (await db.zone.update({ where: { id: zone.id }, data: { memo: `${i}`, updatedAt: at } })).updatedAt.getTime(),
      );
    expect(new Set(times).size).toBe(5);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });
});
