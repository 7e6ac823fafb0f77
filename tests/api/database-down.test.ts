import { afterAll, expect, test } from 'vitest';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { startTcpProxy } from '../support/fakes/tcp-proxy.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import '../support/assertions/matchers.ts';

const way = await startTcpProxy(await testDatabase());
const app = await testApp({ DATABASE_URL: way.url });
afterAll(async () => {
  await app.close();
  await way.close();
});

test('without the database every call fails with a clear error, and works again afterwards', async () => {
  const { client } = await app.build.zone();
  const call = app.as(client).call;
  await call(zones.list);

  await way.cut();
  await expect(call(zones.list)).toFail('DATABASE_UNAVAILABLE');
  await expect(call(zones.create, { body: { name: 'lost' } })).toFail('DATABASE_UNAVAILABLE');
  const health = await fetch(`${app.url}/api/v1/health`);
  expect([health.status, await health.json()]).toMatchObject([
    503,
    { code: 4003, extra: { checks: { postgres: { ok: false } } } },
  ]);

  await way.restore();
  const { total } = await eventually(() => call(zones.list));
  expect(total).toBe(1);
});

test('locks of a hanging process are released soon', async () => {
  const { pool } = app.installation;
  const { rows } = await pool.query<{ name: string; ms: number }>(
    `SELECT name, setting::int AS ms FROM pg_settings WHERE name LIKE 'idle%session_timeout' ORDER BY name`,
  );
  expect(rows).toEqual([
    { name: 'idle_in_transaction_session_timeout', ms: 30_000 },
    { name: 'idle_session_timeout', ms: 30_000 },
  ]);
});

test('a session that ends between two queries fails the next query, and not the process', async () => {
  const { pool } = app.installation;
  const client = await pool.connect();
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const ended = new Promise<void>((end) => void client.once('end', () => end()));
  await pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
  await ended;
  await expect(client.query('SELECT 1')).rejects.toThrow();
  client.release(true);
});
