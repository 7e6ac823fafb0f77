// Compiles document keys from a real database and counts queries.
import { openInstallation } from '../core/installation.ts';
import { originPolicy } from '../core/outbound.ts';
import { readEnv } from '../core/env.ts';
import { compileKeys } from './load.ts';
import { hostKey, nodeKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { apiClients } from '../../../../tests/support/builders/api-clients.ts';
import { builder, unique } from '../../../../tests/support/builders/build.ts';
import type { Build, BuiltSite } from '../../../../tests/support/builders/build.ts';
import { services, testDatabase } from '../../../../tests/support/services/shared-services.ts';

let installation: Awaited<ReturnType<typeof openInstallation>>;
let build: Build;
beforeAll(async () => {
  const { natsUrl, secretsDir } = services();
  const env = readEnv({ DATABASE_URL: await testDatabase(), NATS_URL: natsUrl, SECRETS_DIR: secretsDir });
  installation = await openInstallation(env);
  build = builder(installation, apiClients(installation, { url: '', adminUrl: '' }).signIn);
});
afterAll(() => installation.close());

/** Compiles keys and counts the queries. */
async function compile(zoneId: string, keys: string[]) {
  const { env, secrets, pool } = installation;
  const client = await pool.connect();
  const query = vi.spyOn(client, 'query');
  try {
    const compiled = await compileKeys(client, { secrets, policy: originPolicy(env) }, zoneId, keys);
    const bodies = new Map(compiled.map((result) => [result.key, 'body' in result ? result.body : result.fault]));
    return { bodies, queries: query.mock.calls.length };
  } finally {
    query.mockRestore();
    client.release();
  }
}

async function thousandDomains(site: BuiltSite): Promise<string[]> {
  const names = Array.from({ length: 1000 }, (_, i) => `n${i}-${unique('www')}.example.com`);
  const rows = names.map((name) => ({ siteId: site.id, name, enabled: true, enabledName: name }));
  const made = await installation.db.domain.createManyAndReturn({ data: rows, select: { id: true } });
  const upstreams = made.map(({ id }) => ({ domainId: id, siteId: site.id, address: '192.0.2.1', port: 80 }));
  await installation.db.upstream.createMany({ data: upstreams });
  return names;
}

test('a thousand names cost two queries, and every other kind of document one more', async () => {
  const site = await build.site();
  const node = await build.node({ zone: site.zone });
  const names = await thousandDomains(site);
  const hosts = await compile(site.zoneId, names.map(hostKey));
  // The second query reads disabled names below other customers' wildcards.
  expect(hosts.queries).toBe(2);
  expect([...hosts.bodies.values()].every((body) => typeof body === 'string')).toBe(true);
  const keys = [...names.map(hostKey), siteKey(site.id), nodeKey(node.id), 'zone'];
  // The zone document includes its trial settings.
  expect(await compile(site.zoneId, keys)).toMatchObject({ queries: 6 });
});

test('the same rows give the same bytes', async () => {
  const site = await build.site();
  const { name } = await build.domain({ site });
  await build.cacheRule(site);
  const keys = ['zone', siteKey(site.id), hostKey(name)];
  expect((await compile(site.zoneId, keys)).bodies).toEqual((await compile(site.zoneId, keys)).bodies);
});

test('objects that are disabled, deleted, in another zone or without origins have no document', async () => {
  const [site, other] = [await build.site(), await build.site()];
  const [off, foreign] = [await build.domain({ site, enabled: false }), await build.domain({ site: other })];
  const idle = await build.domain({ site, upstreams: [{ address: '192.0.2.1', port: 80, enabled: false }] });
  const keys = [off, foreign, idle].map(({ name }) => hostKey(name));
  const { bodies } = await compile(site.zoneId, [...keys, siteKey(other.id), 'host/nobody.example.com']);
  expect([...bodies.values()]).toEqual([null, null, null, null, null]);
});

test('a name on two sites belongs to the one where it is enabled', async () => {
  const [site, other] = [await build.site(), await build.site()];
  const { name } = await build.domain({ site });
  await build.domain({ site: other, name, enabled: false });
  const { bodies } = await compile(site.zoneId, [hostKey(name)]);
  expect(JSON.parse(String(bodies.get(hostKey(name))))).toMatchObject({ siteID: site.id });
});

test('an error in one document does not affect others', async () => {
  const site = await build.site();
  const [bad, good] = [await build.domain({ site }), await build.domain({ site })];
  await installation.db.domain.update({ where: { id: bad.id }, data: { portMap: 'not a list' } });
  const { bodies } = await compile(site.zoneId, [hostKey(bad.name), hostKey(good.name)]);
  expect(bodies.get(hostKey(bad.name))).toBeInstanceOf(Error);
  expect(bodies.get(hostKey(good.name))).toContain(good.name);
});
