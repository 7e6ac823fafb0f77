// Concurrent writes must all succeed.
import { EventEmitter } from 'node:events';
import { cacheSetting } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { compression } from '@edgeloom/contract/compression/compression.endpoints.ts';
import { emailSetting } from '@edgeloom/contract/email-setting/email-setting.endpoints.ts';
import { nginxDefaults, zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import { FakeFleet, START } from '../support/fakes/fake-fleet.ts';

const { as, build, installation, url, close } = await testApp();
const { db, pool } = installation;
afterAll(close);

/** Deadlock errors that PostgreSQL sent to this process. Its own statistics lag up to ten seconds. */
let deadlocks = 0;
const watched = new WeakSet<object>();
pool.on('acquire', (client) => {
  const connection: unknown = Reflect.get(client, 'connection');
  if (!(connection instanceof EventEmitter) || watched.has(connection)) return;
  watched.add(connection);
  connection.on('errorMessage', ({ code }: { code?: string }) => {
    if (code === '40P01') deadlocks += 1;
  });
});

const outcomes = async (calls: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(calls)).map((one) => (one.status === 'fulfilled' ? 'done' : String(one.reason)));
const allDone = (count: number) => Array.from({ length: count }, () => 'done');

test('two transactions that lock two rows in opposite orders both succeed', async () => {
  const [first, second] = [await build.zone(), await build.zone()];
  const { promise: bothHold, resolve } = Promise.withResolvers<void>();
  let holding = 0;
  const name = (id: string, name: string) => ({ where: { id }, data: { name } });
  const run = (one: string, other: string, text: string) =>
    db.$transaction(async (tx) => {
      await tx.zone.update(name(one, `${text} 1`));
      if (++holding === 2) resolve();
      await bothHold;
      await tx.zone.update(name(other, `${text} 2`));
    });
  const before = deadlocks;
  expect(await outcomes([run(first.id, second.id, 'a'), run(second.id, first.id, 'b')])).toEqual(allDone(2));
  expect(deadlocks).toBe(before + 1);
  const rows = await db.zone.findMany({ where: { id: { in: [first.id, second.id] } } });
  // Both names come from one transaction, so the transactions ran one after the other.
  expect(new Set(rows.map((row) => row.name.charAt(0))).size).toBe(1);
});

describe('changes of a zone', () => {
  test('during rollouts all succeed and abort no other transaction', async () => {
    const zone = await build.zone();
    const made = await Promise.all(Array.from({ length: 4 }, () => build.node({ zone })));
    const ids = made.map(({ id }) => id);
    await db.edgeNode.updateMany({ where: { id: { in: ids } }, data: { joinedAt: new Date(START) } });
    const fleet = new FakeFleet(installation, ids);
    await fleet.connect(...fleet.nodes);
    const { call } = as(zone.client);
    const params = { zoneId: zone.id };
    const before = deadlocks;

    let isWriting = true;
    const carried = (async () => {
      while (isWriting) {
        const open = await db.rollout.findMany({ where: { kind: 'zone', endedAt: null } });
        await Promise.all(open.map(async ({ id }) => (await fleet.runner(id)).tick().catch(() => undefined)));
      }
    })();
    const writes: string[] = [];
    for (let round = 0; round < 4; round++)
      writes.push(
        ...(await outcomes(
          Array.from({ length: 6 }, (_, i) =>
            i % 2 === 0
              ? call(zoneSettings.soak, { params, body: { soakSeconds: 100 * round + i, reason: 'because' } })
              : call(zoneSettings.http2, { params, body: { enable: (round + (i >> 1)) % 2 === 0, reason: 'because' } }),
          ),
        )),
      );
    isWriting = false;
    await carried;
    expect(writes).toEqual(allDone(24));
    expect(deadlocks).toBe(before);
  });
});

describe('six identical first writes at once all succeed', () => {
  const six = (write: () => Promise<unknown>) => outcomes(Array.from({ length: 6 }, write));

  test('of the cache setting and of the compression of a site', async () => {
    const site = await build.site();
    const { call } = as(site.owner);
    const params = { siteId: site.id };
    const cache = { heuristics: true, staleIfError: 60 };
    expect(await six(() => call(cacheSetting.update, { params, body: cache }))).toEqual(allDone(6));
    expect(await call(cacheSetting.get, { params })).toMatchObject(cache);
    const gzip = { gzip: true, brotli: false, types: ['text/css'], minBytes: 2048 };
    expect(await six(() => call(compression.update, { params, body: gzip }))).toEqual(allDone(6));
    expect(await call(compression.get, { params })).toMatchObject(gzip);
  });

  test('of the mail server and of a default snippet of a client', async () => {
    const { client } = await build.client();
    const { call } = as(client);
    const mail = {
      enabled: false,
      host: 'mail.example.com',
      port: 587,
      security: 'starttls' as const,
      username: '',
      fromName: 'Someone',
      fromAddress: 'someone@example.com',
    };
    expect(await six(() => call(emailSetting.update, { body: mail }))).toEqual(allDone(6));
    const snippet = { params: { part: 'custom' as const }, body: { content: '' } };
    expect(await six(() => call(nginxDefaults.set, snippet))).toEqual(allDone(6));
  });

  test('of a section of a zone', async () => {
    const zone = await build.zone();
    const { call } = as(zone.client);
    const write = () =>
      call(zoneSettings.setPart, {
        params: { zoneId: zone.id, part: 'custom' },
        body: { content: '', reason: 'because' },
      });
    expect(await six(write)).toEqual(allDone(6));
  });
});

test('an aborted form is rejected as invalid input', async () => {
  const { client } = await build.client();
  const answer = await fetch(`${url}/api/v1/client/setting/logo`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'multipart/form-data; boundary=cut' },
    body: '--cut\r\nContent-Disposition: form-data; name="title"\r\n\r\nhal',
  });
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { code: 101_003, errorData: [{ path: '', rule: 'format' }] },
  ]);
});
