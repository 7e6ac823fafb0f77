import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { verifyAudit } from '@edgeloom/api/core/audit-chain.ts';
import { newZoneKey, openSecrets } from '@edgeloom/api/core/secrets.ts';
import { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { codedMessage } from '@edgeloom/contract/rollouts/messages.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { create, deploy, drift, status } from '../../prisma/migrate.ts';
import { accessToken } from '../support/actors.ts';
import { startApp } from '../support/running-app.ts';
import { services, testDatabase } from '../support/services.ts';
import { testDir } from '../support/test-dir.ts';
import '../support/matchers.ts';

async function emptyDatabase(): Promise<string> {
  const name = `empty_${crypto.randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client({ connectionString: services().postgresUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const url = new URL(services().postgresUrl);
  url.pathname = `/${name}`;
  return url.href;
}

test('the migrations produce exactly the schema', async () => {
  expect(await drift(await testDatabase())).toBeNull();
});

test('concurrent starts on an empty database apply each migration once', async () => {
  const database = await emptyDatabase();
  const before = await status(database);
  expect(before.length).toBeGreaterThan(0);

  const applied = await Promise.all([deploy(database), deploy(database), deploy(database)]);
  expect(applied.flat().length).toBe(before.length);
  expect(await status(database)).toEqual([]);
  expect(await deploy(database)).toEqual([]);
});

test('a migration edited after it was applied is reported', async () => {
  const database = await testDatabase();
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  await client.query(`UPDATE _prisma_migrations SET checksum = repeat('0', 64)`);
  await client.end();
  expect((await status(database))[0]).toContain('edited after it was applied');
});

test('a new migration contains only the changes of the schema', async () => {
  const database = await testDatabase();
  const folder = await testDir();
  await cp('prisma', folder, { recursive: true });
  const folders = { schema: path.join(folder, 'schema'), migrations: path.join(folder, 'migrations') };
  const zones = path.join(folders.schema, 'zones.prisma');
  const sqlOf = async (made: string | null) => readFile(path.join(made ?? '', 'migration.sql'), 'utf8');
  const put = async (from: string, to: string) => writeFile(zones, (await readFile(zones, 'utf8')).replace(from, to));

  expect(await create(database, 'nothing', folders)).toBeNull();
  await put('model ZonePort {', 'model ZoneNote {\n  id String @id\n  @@map("zone_notes")\n}\n\nmodel ZonePort {');
  expect(await sqlOf(await create(database, 'notes', folders))).toContain('CREATE TABLE "zone_notes"');
  // Regression: failed when the preceding migration was not applied yet.
  await put('  id String @id\n', '  id String @id\n  text String?\n');
  expect(await sqlOf(await create(database, 'texts', folders))).toContain('ADD COLUMN     "text" TEXT');
  expect(await create(database, 'nothing', folders)).toBeNull();
});

/** The release before roles, API tokens, branding and the audit hash chain. */
const EARLIER = '20261120161000';

test('an earlier installation keeps its accounts, sessions, permissions, sites and audit log', async () => {
  const database = await emptyDatabase();
  const folder = await testDir();
  await cp('prisma', folder, { recursive: true });
  const folders = { schema: path.join(folder, 'schema'), migrations: path.join(folder, 'migrations') };
  for (const name of await readdir(folders.migrations))
    if (name > `${EARLIER}z` && /^\d/.test(name)) await rm(path.join(folders.migrations, name), { recursive: true });
  await deploy(database, folders);

  const id = Object.fromEntries(
    ['client', 'operator', 'customer', 'sub', 'idle', 'zone', 'product', 'site', 'domain', 'session', 'own'].map(
      (name) => [name, crypto.randomUUID()],
    ),
  );
  const at = (name: string) => `'${id[name]}'`;
  const zoneKey = newZoneKey(await openSecrets(services().secretsDir), id['zone'] ?? '');
  const before = new pg.Client({ connectionString: database });
  await before.connect();
  await before.query(`
    INSERT INTO clients (id, name) VALUES (${at('client')}, 'Operator');
    INSERT INTO accounts (id, kind, email, name, is_root, client_id, parent_id, permissions, updated_at) VALUES
      (${at('operator')}, 'client', 'operator@example.com', 'Operator', true, ${at('client')}, NULL, '{}', now()),
      (${at('customer')}, 'user', 'customer@example.com', 'Customer', true, ${at('client')}, NULL, '{}', now()),
      (${at('sub')}, 'user', 'sub@example.com', 'Sub', false, ${at('client')}, ${at('customer')}, '{site:read,domain:read}', now()),
      (${at('idle')}, 'user', 'idle@example.com', 'Idle', false, ${at('client')}, ${at('customer')}, '{}', now());
    INSERT INTO sessions (id, account_id, token_hash, address, device, ends_at) VALUES
      (${at('session')}, ${at('sub')}, 'one', '192.0.2.1', 'test', now() + interval '1 day'),
      (${at('own')}, ${at('customer')}, 'other', '192.0.2.1', 'test', now() + interval '1 day');
    INSERT INTO zones (id, client_id, name, key_sealed, updated_at) VALUES (${at('zone')}, ${at('client')}, 'zone', '${zoneKey}', now());
    INSERT INTO products (id, client_id, zone_id, name, updated_at) VALUES (${at('product')}, ${at('client')}, ${at('zone')}, 'product', now());
    INSERT INTO sites (id, client_id, product_id, zone_id, owner_id, name, updated_at)
      VALUES (${at('site')}, ${at('client')}, ${at('product')}, ${at('zone')}, ${at('customer')}, 'site', now());
    INSERT INTO site_assignments (site_id, account_id) VALUES (${at('site')}, ${at('sub')});
    INSERT INTO domains (id, site_id, name, enabled, enabled_name, updated_at)
      VALUES (${at('domain')}, ${at('site')}, 'www.example.com', true, 'www.example.com', now());
    INSERT INTO audit_rows (req_id, client_id, account_id, email, method, path, status, address)
      SELECT gen_random_uuid(), ${at('client')}, ${at('customer')}, 'customer@example.com', 'POST', '/api/v1/user/site', 200, '192.0.2.1'
      FROM generate_series(1, 3);`);
  await before.end();
  expect((await deploy(database)).length).toBeGreaterThan(0);
  expect(await drift(database)).toBeNull();

  const app = await startApp(services(), database);
  const signedIn = (sub: string, session: string) => {
    const claims = { sub: id[sub], kind: 'user', client: id['client'], session: id[session], actor: id[sub] };
    return app.as({ kind: 'user', token: accessToken(app.installation, claims) }).call;
  };
  const [sub, customer] = [signedIn('sub', 'session'), signedIn('customer', 'own')];
  const params = { siteId: id['site'] ?? '' };
  expect((await sub(sites.meta)).data.map(({ name }) => name)).toEqual(['site']);
  expect((await sub(domains.list, { params })).data.map(({ name }) => name)).toEqual(['www.example.com']);
  const body = { domains: [{ name: 'b.example.com', upstreams: [{ address: '192.0.2.1', port: 80 }] }] };
  await expect(sub(domains.create, { params, body })).toFail('PERMISSION_DENIED');
  expect(await customer(domains.create, { params, body })).toHaveProperty('ids.length', 1);

  const held = (await customer(roles.list)).data;
  expect(held.map(({ permissions }) => permissions)).toEqual([['site:read', 'domain:read']]);
  const role = { name: 'more', permissions: ['site:read' as const, 'domain:write' as const] };
  await customer(roles.update, { params: { id: held[0]?.id ?? '' }, body: role });
  const more = { domains: [{ name: 'c.example.com', upstreams: [{ address: '192.0.2.1', port: 80 }] }] };
  expect(await sub(domains.create, { params, body: more })).toHaveProperty('ids.length', 1);
  const listed = (await customer(accounts.list, { query: { isRoot: false } })).data;
  expect(new Set(listed.map(({ roleName }) => roleName))).toEqual(new Set(['more', null]));

  // Three earlier rows, and those written since.
  const { data } = await customer(audit.search, { body: { method: 'POST' } });
  expect(data.map(({ url, status }) => `${status} ${url.replace(params.siteId, '…')}`)).toEqual([
    '200 /api/v1/user/site/…/domains',
    '200 /api/v1/user/site/…/domains',
    '403 /api/v1/user/site/…/domains',
    ...Array.from({ length: 3 }, () => '200 /api/v1/user/site'),
  ]);
  for await (const { fault } of verifyAudit(app.installation.pool)) expect(fault).toBeNull();
  await app.close();
});

test('texts of earlier rollouts become message codes, and texts by people stay', async () => {
  const figures = { value: 0.4, limit: 0.05, before: 0, others: null, requests: 50 };
  const times = { value: 900, limit: 130, before: 30, others: null };
  const texts = {
    'no word that it is done within 20 s': codedMessage('late', { seconds: 20 }),
    'no word that it is done': codedMessage('late'),
    'no word that it has gone back': codedMessage('lateBack'),
    'north: one: it is not connected any more': { ...codedMessage('away'), node: 'north: one' },
    'not well': codedMessage('unwell'),
    'it had no waf before': codedMessage('hadNone', { product: 'waf' }),
    'agent 1.2.0 is not in the store any more': codedMessage('notInStore', { product: 'agent', version: '1.2.0' }),
    'a newer change of the zone': codedMessage('newerChange'),
    '1 of 12 nodes': codedMessage('share', { nodes: 1, of: 12 }),
    'north: 40 % of 50 answers were 5xx, at most 5 % is taken (before: 0 %; nodes without it: not known)': {
      ...codedMessage('serverErrors', figures),
      node: 'north',
    },
    'north: one in a hundred answers took longer than 900 ms, at most 130 ms is taken (before: 30 ms; nodes without it: not known)':
      { ...codedMessage('latency', times), node: 'north' },
  };
  const file = 'prisma/migrations/20261122135500_rollout_sayings/migration.sql';
  const sql = await readFile(file, 'utf8');
  const client = new pg.Client({ connectionString: await testDatabase() });
  await client.connect();
  await client.query(sql.slice(sql.indexOf('CREATE FUNCTION'), sql.indexOf('UPDATE rollouts')));
  const read = async (words: string) =>
    (await client.query<{ found: unknown }>('SELECT rollout_saying($1) AS found', [words])).rows[0]?.found;
  for (const [text, message] of Object.entries(texts)) expect(await read(text)).toEqual(message);
  for (const words of ['because', '0.0.0.0:81 cannot be opened: EADDRINUSE']) expect(await read(words)).toBe(null);
  await client.end();
});
