// A database is restored to an earlier state while API processes and nodes keep running.
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { unique } from '../support/builders/build.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { joinSimulated } from '../support/fakes/simulated-node.ts';

async function addDomain(plane: ControlPlane, site: BuiltSite): Promise<string> {
  const name = `${unique('www')}.example.com`;
  const body = { domains: [{ name, upstreams: [{ address: '127.0.0.1', port: 8080 }] }] };
  await plane.as(site.owner).call(domains.create, { params: site.params, body });
  return `host/${name}`;
}

/** Runs statements while nothing is connected to the database. */
async function whileClosed(databaseUrl: string, work: (client: pg.Client, name: string) => Promise<unknown>) {
  const url = new URL(databaseUrl);
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`);
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
    await eventually(() => work(client, name));
    await client.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS true`);
  } finally {
    await client.end();
  }
}

test('after a database restore during writes, nodes have exactly the documents of the database', async () => {
  const databaseUrl = await testDatabase();
  const plane = await controlPlane({ databaseUrl });
  onTestFinished(() => plane.stop());
  const site = await plane.build.site();
  const node = await joinSimulated(await plane.node(site.zone));
  node.connect();
  onTestFinished(() => node.disconnect());
  const before = await addDomain(plane, site);
  await eventually(() => expect(node.docs.has(before)).toBe(true));

  await whileClosed(databaseUrl, (client, name) => client.query(`CREATE DATABASE "${name}_kept" TEMPLATE "${name}"`));
  const lost: string[] = [];
  while (lost.length < 3) {
    const key = await eventually(() => addDomain(plane, site));
    await eventually(() => expect(node.docs.has(key)).toBe(true));
    lost.push(key);
  }
  await whileClosed(databaseUrl, async (client, name) => {
    await client.query(`DROP DATABASE IF EXISTS "${name}"`);
    await client.query(`ALTER DATABASE "${name}_kept" RENAME TO "${name}"`);
  });

  let writing = true;
  const written: string[] = [];
  const writer = (async () => {
    while (writing) {
      const key = await addDomain(plane, site).catch(() => null);
      if (key !== null) written.push(key);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  try {
    await eventually(() => expect(lost.filter((key) => node.docs.has(key))).toEqual([]), { within: 30_000 });
    await eventually(() => expect(written.length).toBeGreaterThan(3));
  } finally {
    writing = false;
    await writer;
  }
  await eventually(async () => {
    const { revision } = await plane.installation.db.zone.findUniqueOrThrow({ where: { id: site.zoneId } });
    expect(node.revision).toBe(revision);
    expect([before, ...written].filter((key) => !node.docs.has(key))).toEqual([]);
  });
});
