import type { Readable } from 'node:stream';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { addLogs, logLine } from '../../../../tests/support/builders/traffic.ts';
import { testApp } from '../../../../tests/support/services/app.ts';
import { startClickHouse } from '../../../../tests/support/services/clickhouse.ts';
import { ClickHouse } from './clickhouse-client.ts';
import { copyRequests } from './copy-requests.ts';

const server = await startClickHouse();
const app = await testApp({ CLICKHOUSE_URL: server.url });
const { pool } = app.installation;
afterAll(async () => {
  await app.close();
  await server.stop();
});

const site = await app.build.site();
const node = await app.build.node({ zone: site.zone });
const hoursAgo = (hours: number) => Date.now() / 1000 - hours * 3600;
const hostile = '/\t\\N\\.\n\r\v\f\b"\'é‮';
const addToPostgres = (lines: string[]) => addLogs(pool, node.id, lines);
await addToPostgres([
  logLine(site.id, { uri: '/now', address: '2001:db8::7' }),
  ...Array.from({ length: 20 }, (_, i) => logLine(site.id, { uri: `/${i}`, time: hoursAgo(2), bytes: i })),
  logLine(site.id, { uri: hostile, time: hoursAgo(4), upstream: '192.0.2.80:443', upstreamTime: '0.120' }),
]);

/** Fails in the middle of the second insert, as a killed process does, with some rows inserted. */
class Killed extends ClickHouse {
  #inserts = 0;
  override async insert(rows: Readable | string, token: string | null): Promise<void> {
    this.#inserts += 1;
    if (this.#inserts !== 2 || typeof rows === 'string') return super.insert(rows, token);
    const text = (await rows.toArray()).map(String).join('');
    const [line = ''] = text.split('\n');
    await super.insert(`${line}\n`, token);
    throw new Error('killed');
  }
}

const copy = async (to: ClickHouse) => {
  const hours: [number, boolean][] = [];
  for await (const { rows, isNew } of copyRequests(pool, to)) hours.push([rows, isNew]);
  return hours;
};

test('a copy that was killed is completed by the next one, and later rows are added', async () => {
  const settings = { cluster: undefined, days: 8 };
  const killed = new Killed(server.url, settings);
  await expect(copy(killed)).rejects.toThrow('killed');
  await killed.close();
  const clickHouse = new ClickHouse(server.url, settings);
  expect(await copy(clickHouse)).toEqual([
    [1, false],
    [20, true],
    [1, true],
  ]);
  await addToPostgres([logLine(site.id, { uri: '/late', time: hoursAgo(2) })]);
  expect(await copy(clickHouse)).toEqual([
    [1, false],
    [21, true],
    [1, false],
  ]);
  await clickHouse.close();

  const body = {
    startTime: new Date(Date.now() - 5 * 3_600_000).toISOString(),
    endTime: new Date(Date.now() + 60_000).toISOString(),
    pageSize: 100,
  };
  const { data } = await app.as(site.owner).call(logs.access, { body });
  expect(data.map(({ uri }) => uri).toSorted()).toEqual(
    ['/now', hostile, '/late', ...Array.from({ length: 20 }, (_, i) => `/${i}`)].toSorted(),
  );
  expect(data.at(-1)).toMatchObject({ uri: hostile, upstreamTime: 120, address: '192.0.2.1', country: 'TW' });
  expect(data[0]).toMatchObject({ uri: '/now', address: '2001:db8::7', upstreamTime: null });
});
