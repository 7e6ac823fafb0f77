// The audit log: who changed what, with values before and after, and who reads it.
import { afterAll, describe, expect, test } from 'vitest';
import { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import { session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import { blacklists } from '@edgeloom/contract/firewall/firewall.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { testApp } from '../support/services/app.ts';
import { adoptChanges } from '../support/services/background-work.ts';
import { unique } from '../support/builders/build.ts';
import { password, passwordAccounts } from '../support/builders/password-accounts.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { build, installation } = app;
const { db, pool } = installation;
const { createAccount, signIn, anyone } = passwordAccounts(app);
afterAll(() => app.close());

const as = (who: SignedInAccount) => app.as(who).call;
const search = (who: SignedInAccount, body: object = {}) => as(who)(audit.search, { body });

describe('a change', () => {
  test('is recorded with old and new values of changed columns', async () => {
    const zone = await build.zone();
    const name = unique('zone');
    await as(zone.client)(zones.update, { body: { id: zone.id, name } });
    const { data } = await search(zone.client);
    expect(data).toMatchObject([{ method: 'PUT', url: '/api/v1/client/zone', status: 200, changeCount: 1 }]);
    const { changes } = await as(zone.client)(audit.get, { params: { reqID: data[0]?.id ?? '' } });
    expect(changes).toEqual([
      {
        entity: 'zones',
        action: 'update',
        count: 1,
        rows: [{ key: { id: zone.id, name: zone.name }, before: { name: zone.name }, after: { name } }],
      },
    ]);
  });

  test('of many rows stores a hundred of them, and their number', async () => {
    const site = await build.site();
    const names = Array.from({ length: 150 }, (_, i) => ({ name: `n${i}.${unique('many')}.example.com` }));
    await as(site.owner)(domains.create, {
      params: site.params,
      body: { domains: names.map(({ name }) => ({ name, upstreams: [{ address: '192.0.2.1', port: 80 }] })) },
    });
    const [row] = (await search(site.owner)).data;
    const { changes } = await as(site.owner)(audit.get, { params: { reqID: row?.id ?? '' } });
    const found = changes.find(({ entity }) => entity === 'domains');
    expect([found?.action, found?.count, found?.rows.length]).toEqual(['insert', 150, 100]);
  });

  test('that was rolled back is not recorded, but the error is', async () => {
    const zone = await build.zone();
    const second = await build.zone({ tenant: zone });
    const rename = as(zone.client)(zones.update, { body: { id: zone.id, name: second.name } });
    await expect(rename).toFail('ZONE_NAME_TAKEN');
    expect((await search(zone.client)).data).toMatchObject([{ status: 409, changeCount: 0 }]);
  });

  test('belongs to its own call, also under concurrency', async () => {
    const tenant = await build.client();
    const built = await Promise.all(Array.from({ length: 12 }, () => build.zone({ tenant })));
    await Promise.all(built.map(({ id }) => as(tenant.client)(zones.update, { body: { id, memo: `memo of ${id}` } })));
    const { data } = await search(tenant.client);
    const details = await Promise.all(data.map(({ id }) => as(tenant.client)(audit.get, { params: { reqID: id } })));
    const changedColumns = details.map(({ changes }) =>
      changes.flatMap(({ rows }) => rows.map(({ key, after }) => [key, after])),
    );
    expect(changedColumns).toHaveLength(12);
    for (const rows of changedColumns) expect(rows).toHaveLength(1);
    expect(new Set(changedColumns.map(([row]) => JSON.stringify(row)))).toEqual(
      new Set(built.map(({ id, name }) => JSON.stringify([{ id, name }, { memo: `memo of ${id}` }]))),
    );
  });

  test('of a background job belongs to no call', async () => {
    const zone = await build.zone();
    await db.zone.update({ where: { id: zone.id }, data: { memo: 'by a job' } });
    expect(await db.auditChange.count()).toBe(0);
  });

  test('of a crashed process gets a row with status 0', async () => {
    const { clientId, client } = await build.client();
    const reqID = crypto.randomUUID();
    const call = { reqID, clientId, rootId: client.id, accountId: client.id, accountName: 'x', email: client.email };
    await db.auditChange.create({
      data: {
        reqId: reqID,
        at: new Date(Date.now() - 3_600_000),
        call: { ...call, method: 'POST', path: '/api/v1/client/zone', address: '127.0.0.1' },
        entity: 'zones',
        action: 'insert',
        count: 1,
        rows: [{ key: { id: 'x' }, after: { name: 'made' } }],
      },
    });
    await adoptChanges(installation);
    await adoptChanges(installation);
    expect((await search(client)).data).toMatchObject([{ id: reqID, status: 0, changeCount: 1 }]);
  });
});

describe('the objects of a call', () => {
  const newest = async (who: SignedInAccount, body: object = {}) => {
    const [row] = (await search(who, body)).data;
    if (!row) throw new Error('the log is empty');
    return row;
  };
  const targetOf = ({ targets, kind }: Awaited<ReturnType<typeof newest>>) =>
    targets.find((target) => target.kind === kind);
  const addDomains = async (site: Awaited<ReturnType<typeof build.site>>, ...names: string[]) => {
    const body = { domains: names.map((name) => ({ name, upstreams: [{ address: '192.0.2.1', port: 80 }] })) };
    return (await as(site.owner)(domains.create, { params: site.params, body })).ids;
  };

  // Regression: the log said "Added 2 address lists", as the list has two addresses.
  test('are one, when their lists are fields of it', async () => {
    const site = await build.site();
    const body = { ips: ['203.0.113.1', '203.0.113.2'] };
    await as(site.owner)(blacklists.create, { params: site.params, body });
    expect(targetOf(await newest(site.owner))).toMatchObject({ kind: 'firewallLists', count: 1 });
  });

  test('have their names, their number and their site', async () => {
    const site = await build.site();
    const names = ['a', 'b', 'c', 'd'].map((letter) => `${letter}.${unique('log')}.example.com`);
    const ids = await addDomains(site, ...names);
    const added = await newest(site.owner);
    expect(added).toMatchObject({ operation: 'domains.create', kind: 'domains', code: null, device: 'node' });
    expect(added.within).toMatchObject({ kind: 'sites', id: site.id, name: site.name, exists: true });
    expect(targetOf(added)).toMatchObject({ count: 4, items: [{ exists: true }, { exists: true }, { exists: true }] });

    await as(site.owner)(domains.status, { params: site.params, body: { ids, enabled: false } });
    const switched = await newest(site.owner);
    expect(switched).toMatchObject({ operation: 'domains.status', values: { enabled: false } });
    const shown = targetOf(switched)?.items.map(({ name }) => name) ?? [];
    expect([shown.length, shown.every((name) => names.includes(name))]).toEqual([3, true]);
  });

  test('keep their former names after renaming and removal', async () => {
    const zone = await build.zone();
    const later = unique('later');
    await as(zone.client)(zones.update, { body: { id: zone.id, name: later } });
    expect(targetOf(await newest(zone.client))).toMatchObject({ items: [{ name: zone.name, exists: true }] });
    await as(zone.client)(zones.remove, { body: { ids: [zone.id] } });
    const { data } = await search(zone.client);
    expect(data.map((row) => [row.operation, targetOf(row)?.count, targetOf(row)?.items])).toEqual([
      ['zones.remove', 1, [{ id: zone.id, name: later, exists: false }]],
      ['zones.update', 1, [{ id: zone.id, name: zone.name, exists: false }]],
    ]);
  });

  test('are named for failed calls, with the error code and its values', async () => {
    const [zone, name] = [await build.zone(), unique('taken')];
    await build.zone({ tenant: zone, name });
    await expect(as(zone.client)(zones.create, { body: { name } })).toFail('ZONE_NAME_TAKEN');
    const refused = await newest(zone.client, { keyword: name });
    expect(refused).toMatchObject({ operation: 'zones.create', status: 409, code: 201_002, values: { name } });
    expect(targetOf(refused)).toEqual({ kind: 'zones', count: 1, items: [{ id: '', name, exists: false }] });

    const site = await build.site();
    const domain = `twice.${unique('log')}.example.com`;
    await addDomains(site, domain);
    await expect(addDomains(site, domain, `new.${domain}`)).toFail('MULTIPLE', { status: 409 });
    const twice = await newest(site.owner);
    expect([twice.code, targetOf(twice)?.items.map((item) => item.name)]).toEqual([101_025, [domain, `new.${domain}`]]);
  });

  test("of another tenant have no names in the reader's log", async () => {
    const [mine, theirs] = [await build.site(), await build.site()];
    const beside = await build.site({ product: mine.product });
    for (const id of [theirs.id, beside.id]) {
      const call = as(mine.owner)(cacheRules.remove, { params: { siteId: id }, body: { ids: [mine.id] } });
      await expect(call).toFail('NOT_FOUND');
    }
    const { data } = await search(mine.owner, { outcome: 'failed' });
    expect(data.map(({ within }) => [within?.id, within?.name, within?.exists])).toEqual([
      [beside.id, '', false],
      [theirs.id, '', false],
    ]);
    const rows = await db.auditRow.findMany({ where: { accountId: mine.owner.id }, select: { context: true } });
    const stored = JSON.stringify(rows);
    for (const { name } of [theirs, beside]) expect(stored).not.toContain(`"${name}"`);
  });

  test('are found by name, as are the actors', async () => {
    const site = await build.site();
    const name = `found.${unique('log')}.example.com`;
    await addDomains(site, name, `other.${unique('log')}.example.com`);
    await as(site.owner)(cacheRules.create, {
      params: site.params,
      body: { rules: [{ type: 'fileType', value: ['css'], cacheTime: 60 }] },
    });
    const found = async (keyword: string) =>
      (await search(site.owner, { keyword })).data.map(({ operation }) => operation);
    expect(await found(name.toUpperCase())).toEqual(['domains.create']);
    expect(await found(site.name)).toEqual(['cacheRules.create', 'domains.create']);
    expect(await found(site.owner.email)).toHaveLength(2);
    expect(await found('targets')).toEqual([]);
    expect(await found('%')).toEqual([]);
  });

  test('steps of an action are listed only on failure or on request', async () => {
    const { client, clientId } = await build.client();
    const someone = await createAccount({ clientId });
    await signIn(someone);
    const of = async (body: object) =>
      (await search(client, body)).data.map(({ operation, status }) => `${operation} ${status}`);
    expect(await of({})).toEqual(['auth.code 200']);
    expect(await of({ detail: 'calls' })).toEqual(['auth.code 200', 'auth.login 200']);
    await expect(signIn(someone, 'not the one')).toFail('CREDENTIAL_REFUSED');
    expect(await of({ outcome: 'failed' })).toEqual(['auth.login 401']);
    expect(await of({ outcome: 'done' })).toEqual(['auth.code 200']);
  });
});

test('a copy names the sites that it went to, and not the one that it came from', async () => {
  const site = await build.site();
  const others = await Promise.all(
    [1, 2, 3, 4].map(() => build.site({ product: site.product, owner: site.owner, name: unique('target') })),
  );
  const siteIDs = others.map(({ id }) => id);
  await as(site.owner)(copies.settings, { params: site.params, body: { siteIDs, settings: ['cache'] } });
  const [row] = (await search(site.owner, { url: 'copy' })).data;
  expect(row).toMatchObject({ operation: 'copies.settings', within: { kind: 'sites', name: site.name } });
  const sites = row?.targets.find(({ kind }) => kind === 'sites');
  const names = others.map(({ name }) => name);
  expect([sites?.count, sites?.items.length]).toEqual([4, 3]);
  expect(names).toEqual(expect.arrayContaining(sites?.items.map(({ name }) => name) ?? []));
  const { targets } = await as(site.owner)(audit.get, { params: { reqID: row?.id ?? '' } });
  expect(
    targets
      .find(({ kind }) => kind === 'sites')
      ?.items.map(({ name }) => name)
      .toSorted(),
  ).toEqual(names.toSorted());
});

describe('secrets', () => {
  test('are masked: of a sign-in, a password change and everything else that authenticates', async () => {
    const someone = await createAccount();
    const tokens = await signIn(someone);
    const call = passwordAccounts(app).as(tokens.accessToken);
    await call(session.changePassword, { body: { oldPassword: password, password: 'another good password' } });
    const rows = await db.auditRow.findMany({ where: { accountId: someone.id } });
    expect(rows.map((row) => row.path)).toEqual(
      expect.arrayContaining(['/api/v1/client/login', '/api/v1/client/code', '/api/v1/client/account/password']),
    );
    const text = JSON.stringify(rows.map(({ changes }) => changes));
    expect(text).toContain('"password_hash":"•••"');
    expect(text).toContain('"token_hash":"•••"');
    expect(text).not.toContain('argon2');
    const { tokenHash } = await db.session.findFirstOrThrow({ where: { accountId: someone.id } });
    expect(text).not.toContain(tokenHash);
  });

  test('are masked by name; other names were reviewed as harmless', async () => {
    const { rows } = await pool.query<{ place: string; masked: boolean }>(
      `SELECT c.table_name || '.' || c.column_name AS place, audit_masks(c.table_name, c.column_name) AS masked
       FROM information_schema.columns c JOIN information_schema.triggers t
         ON t.event_object_table = c.table_name AND t.trigger_name = 'audit_insert'
       WHERE c.table_schema = 'public' AND c.column_name ~* '(password|hash|key|token|secret|sealed|credential)'`,
    );
    expect(rows.length).toBeGreaterThan(10);
    expect(
      rows
        .filter(({ masked }) => !masked)
        .map(({ place }) => place)
        .toSorted(),
    ).toEqual([
      'brand_images.hash',
      'domains.hash_type',
      'jobs.doc_keys',
      'nodes.public_key',
      'revoked_keys.public_key',
      'sessions.api_token_id',
    ]);
  });

  test('are not in URLs, because the query is removed', async () => {
    const { client } = await build.client();
    await fetch(`${app.url}/api/v1/client/zone?token=hush`, {
      method: 'POST',
      headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect((await search(client)).data).toMatchObject([{ url: '/api/v1/client/zone', status: 400 }]);
  });
});

test('every table is audited or listed as exempt', async () => {
  const { rows } = await pool.query<{ name: string; isAudited: boolean }>(
    `SELECT tablename AS name, EXISTS (SELECT FROM information_schema.triggers g
       WHERE g.event_object_table = t.tablename AND g.trigger_name = 'audit_insert') AS "isAudited"
     FROM pg_tables t WHERE schemaname = 'public'`,
  );
  const exempt = rows.filter(({ isAudited }) => !isAudited);
  // A new table's migration ends with SELECT watch('its_name'), or the table is listed here with a reason.
  expect(exempt.map(({ name }) => name).toSorted()).toEqual(
    [
      ['_prisma_migrations', 'audit_rows', 'audit_heads', 'audit_changes'],
      // Counters, and responses cached for a day.
      ['rate_counts', 'idempotent_calls', 'login_failures'],
      // Steps of a sign-in. The last one is audited.
      ['login_challenges', 'passkey_challenges', 'oidc_sign_ins'],
      // Written by triggers of audited tables.
      ['port_claims', 'name_claims', 'site_versions', 'site_changes'],
      // Results of DNS checks.
      ['name_proofs', 'proof_tokens'],
      // Derived from the attention list.
      ['alerts', 'alert_notices', 'alert_messages', 'alert_node_link'],
      // Results of fetches.
      ['list_source_states', 'list_source_chunks'],
      // Authorities that were down.
      ['acme_outages'],
      // Derived from groups and sites for DNS.
      ['dns_targets', 'dns_plans', 'dns_names', 'dns_setting_states'],
      // Derived by the publisher, the mailer and the nodes.
      [
        'outbox',
        'outgoing_mails',
        'edge_documents',
        'node_states',
        'node_job_steps',
        'job_receipts',
        'cached_now',
        'preheat_copies',
      ],
      // Access logs and their sums.
      [
        'access_log',
        'traffic',
        'top_groups',
        'top_values',
        'pending_tops',
        'pending_requests',
        'address_sketches',
        'log_positions',
        'unreadable_lines',
      ],
      ['l4_log', 'l4_traffic', 'traffic_usages'],
      // From the heartbeats of nodes.
      ['kernel_drops', 'kernel_drop_counters'],
      // Written by triggers and a migration, for bills.
      ['site_billings', 'product_prices', 'former_node_zones', 'usage_ledger_starts'],
      // Written by the job that limits traffic.
      ['traffic_checks', 'traffic_notices', 'traffic_package_months'],
      // Derived from access logs for destinations, and the parts of exports.
      ['log_spool', 'log_spool_heads', 'log_export_chunks', 'log_export_days'],
      // Derived from nodes and groups for traffic steering.
      ['node_standings', 'group_states'],
      // From the reports of monitors.
      ['monitor_states', 'monitor_results'],
      // Written together with the audited change.
      ['rollout_lines'],
    ]
      .flat()
      .toSorted(),
  );
  expect(rows.length).toBeGreaterThan(2 * exempt.length);
});

describe('a reader', () => {
  test('finds calls of its own client, its own customer or everyone, and no more', async () => {
    const [site, other, admin] = [await build.site(), await build.site(), await build.admin()];
    const sub = await build.subUser(site.owner, [site], { permissions: ['cache:write', 'audit:read'] });
    const beside = await build.user(site);
    const rule = { rules: [{ type: 'fileType' as const, value: ['css'], cacheTime: 60 }] };
    for (const who of [site.owner, sub]) await as(who)(cacheRules.create, { params: site.params, body: rule });
    await as(other.owner)(cacheRules.create, { params: other.params, body: rule });
    const emails = async (who: SignedInAccount) => new Set((await search(who)).data.map(({ email }) => email));
    expect(await emails(site.owner)).toEqual(new Set([site.owner.email, sub.email]));
    expect(await emails(sub)).toEqual(new Set([site.owner.email, sub.email]));
    expect(await emails(beside)).toEqual(new Set());
    expect(await emails(site.client)).toEqual(new Set([site.owner.email, sub.email]));
    const all = await emails(admin);
    expect([site.owner, sub, other.owner].every(({ email }) => all.has(email))).toBe(true);

    const [row] = (await search(other.owner)).data;
    for (const who of [site.owner, site.client, sub])
      await expect(as(who)(audit.get, { params: { reqID: row?.id ?? '' } })).toFail('NOT_FOUND');
  });

  test('needs the permission, and a search is not recorded', async () => {
    const site = await build.site();
    const sub = await build.subUser(site.owner, [site], { permissions: ['site:read'] });
    await expect(search(sub)).toFail('PERMISSION_DENIED');
    await search(site.owner);
    expect((await search(site.owner)).total).toBe(0);
  });

  test('finds a refresh under its account, also with a stolen token', async () => {
    const { client, clientId } = await build.client();
    const someone = await createAccount({ clientId });
    const { refreshToken } = await signIn(someone);
    const refresh = () => anyone('client')(session.refresh, { body: { refreshToken } });
    await refresh();
    await db.session.updateMany({
      where: { accountId: someone.id },
      data: { rotatedAt: new Date(Date.now() - 60_000) },
    });
    await expect(refresh()).toFail('REFRESH_FAILED');
    const { data } = await search(client, { method: 'PATCH', detail: 'calls' });
    expect(data).toMatchObject([
      { accountID: someone.id, url: '/api/v1/client', status: 401, changeCount: 1 },
      { accountID: someone.id, url: '/api/v1/client', status: 200, changeCount: 1 },
    ]);
  });

  // Regression: these entries were attributed to the operator that had created the customer.
  test('finds its own sign-ins, including failed ones, as a customer and as its sub-account', async () => {
    const site = await build.site();
    const { id: roleId } = await db.role.create({
      data: { ownerId: site.owner.id, name: unique('role'), permissions: ['audit:read'] },
    });
    const made = [
      { isRoot: true, parentId: site.client.id },
      { isRoot: false, parentId: site.owner.id, roleId },
    ];
    for (const place of made) {
      const { clientId } = site;
      const someone = await createAccount({ kind: 'user', clientId });
      await db.account.update({ where: { id: someone.id }, data: place });
      await expect(signIn(someone, 'not the one')).toFail('CREDENTIAL_REFUSED');
      const { accessToken } = await signIn(someone);
      const { data } = await passwordAccounts(app).as(accessToken, 'user')(audit.search, { body: {} });
      expect(data.map(({ url, status, accountID }) => [url, status, accountID])).toEqual([
        ['/api/v1/user/code', 200, someone.id],
        ['/api/v1/user/login', 401, someone.id],
      ]);
    }
  });

  test('can use each filter', async () => {
    const tenant = await build.client();
    const call = as(tenant.client);
    const { id } = await call(zones.create, { body: { name: unique('zone') } });
    await call(zones.update, { body: { id, memo: '100% new' } });
    await expect(call(products.create, { body: { name: '', zoneID: id } })).toFail('PARAMETER');
    const methods = async (filter: object) =>
      (await search(tenant.client, filter)).data.map(({ method, status }) => `${method} ${status}`);
    const [first] = (await search(tenant.client, { method: 'POST', url: 'ZONE' })).data;
    const now = Date.now();
    const at = (ms: number) => new Date(now + ms).toISOString();
    expect(await methods({ method: 'PUT' })).toEqual(['PUT 200']);
    expect(await methods({ url: '/product' })).toEqual(['POST 400']);
    expect(await methods({ url: '%' })).toEqual([]);
    expect(await methods({ accountName: tenant.client.email.slice(3, 14).toUpperCase() })).toHaveLength(3);
    expect(await methods({ accountName: 'nobody of that name' })).toEqual([]);
    expect(await methods({ proxyName: 'nobody' })).toEqual([]);
    expect(await methods({ reqID: first?.reqID ?? '' })).toEqual(['POST 200']);
    expect(await methods({ reqID: 'no such id' })).toEqual([]);
    expect(await methods({ startTime: at(-60_000), endTime: at(60_000) })).toHaveLength(3);
    expect(await methods({ endTime: at(-60_000) })).toEqual([]);
    expect(await methods({ page: 2, pageSize: 2 })).toEqual(['POST 200']);
    expect((await search(tenant.client, { pageSize: 1 })).total).toBe(3);
  });

  test('sees failed sign-ins to its own accounts; those to unknown accounts belong to the installation', async () => {
    const { client, clientId } = await build.client();
    const someone = await createAccount({ clientId });
    const stranger = `${unique('nobody')}@example.com`;
    for (const email of [someone.email, stranger])
      await expect(anyone('client')(session.login, { body: { email, password: 'not the one' } })).toFail(
        'CREDENTIAL_REFUSED',
      );
    const { data } = await search(client);
    expect(data).toMatchObject([
      { email: someone.email, accountID: someone.id, status: 401, url: '/api/v1/client/login' },
    ]);
    const byAdmin = await search(await build.admin(), { accountName: stranger });
    expect(byAdmin.data).toMatchObject([{ email: stranger, accountID: null, status: 401 }]);
  });
});
