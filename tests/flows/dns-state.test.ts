// From sites and groups to DNS answers: a real PowerDNS with per-region answers, and failing providers.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { clientSites, sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { cnames, dnsSetting } from '@edgeloom/contract/dns-setting/dns-setting.endpoints.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { startDnsReconciler, takeDue, wantSets, type WantedSet } from '../support/services/background-work.ts';
import { queryDns } from '../support/assertions/query-dns.ts';
import { testApp, type TestApp } from '../support/services/app.ts';
import { unique, type Tenant } from '../support/builders/build.ts';
import { casesOfRun } from '../support/builders/long-run.ts';
import { startDnsApiProxy, type ProxyMode } from '../support/fakes/dns-api-proxy.ts';
import { startDnspod } from '../support/fakes/dns-vendors/dnspod.ts';
import { startRoute53 } from '../support/fakes/dns-vendors/route-53.ts';
import type { FakeVendor } from '../support/fakes/dns-vendors/fake-vendor.ts';
import { eventually } from '../support/assertions/eventually.ts';
import '../support/assertions/matchers.ts';
import { startPowerDns, type PowerDns } from '../support/services/power-dns.ts';
import { services } from '../support/services/shared-services.ts';

const zone = `${unique('zone')}.example.com`;
const places = [
  { network: '198.51.100.0/24', country: 'TW', continent: 'AS', asn: 3462 },
  { network: '203.0.113.0/24', country: 'TW', continent: 'AS', asn: 64_500 },
  { network: '192.0.2.0/24', country: 'DE', continent: 'EU', asn: 64_501 },
];
const [hinet, taiwan, germany, nowhere] = ['198.51.100.7', '203.0.113.7', '192.0.2.7', '10.1.1.1'];

let dns: PowerDns;
let dnspod: FakeVendor;
let route53: FakeVendor;
let app: TestApp;
let reconciler: { stop: () => Promise<void> };

const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  dns = await startPowerDns([zone], places);
  onEnd(() => dns.stop());
  dnspod = await startDnspod('example.org');
  onEnd(() => dnspod.stop());
  route53 = await startRoute53('example.net');
  onEnd(() => route53.stop());
  app = await testApp({
    ORIGIN_ALLOW: '127.0.0.0/8',
    DNS_RESOLVERS: dns.nameServer,
    DNS_ENDPOINTS: JSON.stringify({ dnspod: dnspod.url, route53: route53.url }),
  });
  onEnd(() => app.close());
  reconciler = startDnsReconciler(app.installation, console);
  onEnd(() => reconciler.stop());
}, 180_000);
afterAll(stopAll);

interface Operator extends Tenant {
  suffix: string;
  settingID: string;
}
const powerDns = (url = dns.url) => ({ dnsType: 'powerDNS' as const, credentials: { url, apiKey: dns.apiKey } });

async function operator(url = dns.url): Promise<Operator> {
  const tenant = await app.build.client();
  const suffix = `${unique('cdn')}.${zone}`;
  const body = { ...powerDns(url), rootDomain: zone, cname: suffix };
  const { id } = await app.as(tenant.client).call(dnsSetting.create, { body });
  return { ...tenant, suffix, settingID: id };
}
async function want({ clientId }: Tenant, label: string, sets: WantedSet[]) {
  const client = await app.installation.pool.connect();
  try {
    await wantSets(client, { clientId, label }, sets);
  } finally {
    client.release();
  }
}
const set = (line: string, ...values: string[]): WantedSet => ({
  line,
  type: 'A',
  values: values.map((value) => ({ value, weight: 50 })),
  ttlSeconds: 60,
});
/** Addresses by their last octet, each with its weight. */
const weighted = (...values: [number, number][]): WantedSet => ({
  ...set('default'),
  values: values.map(([end, weight]) => ({ value: `192.0.2.${end}`, weight })),
});
const ask = (name: string, from?: string) => queryDns(dns.nameServer, name, from === undefined ? {} : { from });
/** Generous, because speed is measured by the bench. */
const generousTimeout = { within: 60_000 };
const shows = (name: string, answers: string[], from?: string, within = generousTimeout) =>
  eventually(async () => expect(await ask(name, from)).toEqual(answers.toSorted()), within);
const settingOf = async ({ client, settingID }: Operator) => {
  const { data } = await app.as(client).call(dnsSetting.list, {});
  const found = data.find(({ id }) => id === settingID);
  if (!found) throw new Error('the setting is gone');
  return found;
};
const unprocessed = async ({ client }: Tenant) => (await app.as(client).call(dnsSetting.unprocessed, {})).data;
const settled = (one: Operator) =>
  eventually(async () => {
    expect(await settingOf(one)).toMatchObject({ unprocessed: 0, fault: null });
    expect(await app.installation.db.dnsPlan.count({ where: { clientId: one.clientId } })).toBe(0);
  }, generousTimeout);
/** Changes records directly at the provider. */
const byHand = (name: string, type: string, contents: string[]) =>
  dns.call(`/zones/${zone}.`, 'PATCH', {
    rrsets: [
      {
        name: `${name}.`,
        type,
        ttl: 60,
        changetype: contents.length === 0 ? 'DELETE' : 'REPLACE',
        records: contents.map((content) => ({ content, disabled: false })),
      },
    ],
  });

test('a site’s name points to its group’s name, which answers per line and follows changes', async () => {
  const one = await operator();
  const site = await app.build.site({
    product: await app.build.product({ zone: await app.build.zone({ tenant: one }) }),
  });
  const group = await app.installation.db.group.create({ data: { zoneId: site.zoneId, name: 'main' } });
  const [siteName, groupName] = [`${site.cnameLabel}.${one.suffix}`, `${group.dnsLabel}.${one.suffix}`];
  await want(one, group.dnsLabel, [set('default', '192.0.2.1', '192.0.2.2')]);
  await app.installation.db.site.update({ where: { id: site.id }, data: { groupId: group.id } });
  await shows(siteName, [`CNAME ${groupName}`, 'A 192.0.2.1', 'A 192.0.2.2']);

  const lines = [set('cht', '192.0.2.10'), set('country-TW', '192.0.2.20'), set('overseas', '192.0.2.30')];
  await want(one, group.dnsLabel, [set('default', '192.0.2.1'), ...lines]);
  await shows(groupName, ['A 192.0.2.10'], hinet);
  await shows(groupName, ['A 192.0.2.20'], taiwan);
  await shows(groupName, ['A 192.0.2.30'], germany);
  await shows(groupName, ['A 192.0.2.1'], nowhere);
  await shows(siteName, [`CNAME ${groupName}`, 'A 192.0.2.10'], hinet);

  await want(one, group.dnsLabel, [weighted([1, 100], [2, 1])]);
  await eventually(async () => {
    const drawn = await Promise.all(Array.from({ length: 40 }, () => ask(groupName)));
    expect(drawn.every((answer) => answer.length === 1)).toBe(true);
    expect(drawn.filter(([answer]) => answer === 'A 192.0.2.1').length).toBeGreaterThan(20);
  });

  await app.installation.db.site.delete({ where: { id: site.id } });
  await want(one, group.dnsLabel, []);
  await shows(siteName, []);
  await shows(groupName, []);
  await settled(one);
  expect(await app.installation.db.dnsName.count({ where: { settingId: one.settingID } })).toBe(0);
});

test('a site forced to its backup group points there until released', async () => {
  const one = await operator();
  const zone = await app.build.zone({ tenant: one });
  const site = await app.build.site({ product: await app.build.product({ zone }) });
  const group = (name: string) => app.installation.db.group.create({ data: { zoneId: zone.id, name } });
  const [main, backup] = [await group('main'), await group('backup')];
  await want(one, main.dnsLabel, [set('default', '192.0.2.1')]);
  await want(one, backup.dnsLabel, [set('default', '192.0.2.2')]);
  const data = { groupId: main.id, backupGroupId: backup.id };
  await app.installation.db.site.update({ where: { id: site.id }, data });
  const siteName = `${site.cnameLabel}.${one.suffix}`;
  const [own, other] = [main, backup].map(({ dnsLabel }) => `CNAME ${dnsLabel}.${one.suffix}`);
  await shows(siteName, [own ?? '', 'A 192.0.2.1']);
  const force = (enabled: boolean) =>
    app.as(one.client).call(clientSites.forceBackup, { body: { siteIDs: [site.id], enabled } });
  expect(await force(true)).toEqual({ siteIDs: [site.id] });
  await shows(siteName, [other ?? '', 'A 192.0.2.2']);
  expect(await force(false)).toEqual({ siteIDs: [site.id] });
  await shows(siteName, [own ?? '', 'A 192.0.2.1']);
});

test('customers see the operator’s name, verify it, and may choose a label where names are not generated', async () => {
  const one = await operator();
  const product = await app.build.product({ zone: await app.build.zone({ tenant: one }) });
  const site = await app.build.site({ product });
  const label = unique('shop');
  const update = () => app.as(one.client).call(clientSites.update, { body: { id: site.id, cnameLabel: label } });
  await expect(update()).toFail('PARAMETER');
  await app.installation.db.product.update({ where: { id: product.id }, data: { cnameMode: 'custom' } });
  await update();
  const { cname } = await app.as(site.owner).call(sites.get, { params: site.params });
  expect(cname).toBe(`${label}.${one.suffix}`);

  const domain = await app.build.domain({ site, name: `${unique('www')}.${zone}` });
  const body = { ids: [domain.id] };
  const look = async () => (await app.as(site.owner).call(domains.checkCname, { params: site.params, body })).data;
  expect(await look()).toMatchObject([{ cnameStatus: 'inactive' }]);
  await byHand(domain.name, 'CNAME', [`${cname}.`]);
  expect(await look()).toMatchObject([{ cnameStatus: 'active', found: cname }]);
  // With a second suffix for migration, names exist under both.
  const second = { name: `${unique('second')}.${zone}`, isDefault: true };
  await app.as(one.client).call(cnames.create, { body: second });
  expect(await look()).toMatchObject([{ cnameStatus: 'active', found: cname }]);
  const own = [`x.${one.suffix}`, `${unique('www')}.${zone}`];
  const refused = await app.as(site.owner).call(domains.refusals, { params: site.params, body: { names: own } });
  expect(refused.data.map(({ name }) => name)).toEqual([`x.${one.suffix}`]);
});

test('records deleted or edited by hand are restored, foreign records stay, and both are reported', async () => {
  const one = await operator();
  const [gone, edited] = [`g-gone.${one.suffix}`, `g-edited.${one.suffix}`];
  await want(one, 'g-gone', [set('default', '192.0.2.1')]);
  await want(one, 'g-edited', [set('default', '192.0.2.2')]);
  await shows(gone, ['A 192.0.2.1']);
  await shows(edited, ['A 192.0.2.2']);
  await settled(one);

  await byHand(gone, 'A', []);
  await byHand(edited, 'A', ['192.0.2.99']);
  await byHand(edited, 'TXT', ['"by hand"']);
  await byHand(`elsewhere.${one.suffix}`, 'A', ['192.0.2.77']);
  await shows(gone, []);
  await app.as(one.client).call(dnsSetting.compare, { body: { ids: [one.settingID] } });
  await shows(gone, ['A 192.0.2.1']);
  await shows(edited, ['A 192.0.2.2']);
  expect(await queryDns(dns.nameServer, edited, { type: 'TXT' })).toEqual(['TXT by hand']);
  expect(await ask(`elsewhere.${one.suffix}`)).toEqual(['A 192.0.2.77']);
  const { drifted, driftedNames } = await settingOf(one);
  expect([drifted, driftedNames.toSorted()]).toEqual([2, [edited, gone]]);
});

test('a foreign record under a new name is kept until it is taken over', async () => {
  const one = await operator();
  const name = `g-taken.${one.suffix}`;
  await byHand(name, 'A', ['192.0.2.50']);
  await want(one, 'g-taken', [set('default', '192.0.2.1')]);
  const [waiting] = await eventually(async () => {
    const rows = await unprocessed(one);
    expect(rows).toMatchObject([{ name, answers: ['A 192.0.2.1'], fault: 'not ours: A 192.0.2.50' }]);
    return rows;
  });
  expect(await ask(name)).toEqual(['A 192.0.2.50']);
  const body = { ids: [waiting?.id ?? ''], takeOver: true };
  expect(await app.as(one.client).call(dnsSetting.recovery, { body })).toEqual({ names: 1 });
  await shows(name, ['A 192.0.2.1']);
});

test('a foreign record is kept that was made after the zone was listed', async () => {
  const front = await startDnsApiProxy(dns.url);
  onTestFinished(() => front.stop());
  const one = await operator(front.url);
  await settled(one);
  const name = `g-late.${one.suffix}`;
  const listing = front.holdNextList();
  await app.as(one.client).call(dnsSetting.compare, { body: { ids: [one.settingID] } });
  await listing.arrived;
  await byHand(name, 'A', ['192.0.2.50']);
  await want(one, 'g-late', [set('default', '192.0.2.1')]);
  const names = () => app.installation.db.dnsName.count({ where: { settingId: one.settingID, name } });
  await eventually(async () => expect(await names()).toBe(1), generousTimeout);
  listing.release();
  await eventually(
    async () => expect(await unprocessed(one)).toMatchObject([{ name, fault: 'not ours: A 192.0.2.50' }]),
    generousTimeout,
  );
  expect(await ask(name)).toEqual(['A 192.0.2.50']);
});

test('names exist below each suffix, and none below a removed one', async () => {
  const one = await operator();
  const second = `${unique('second')}.${zone}`;
  await want(one, 'g-both', [set('default', '192.0.2.1')]);
  const made = await app.as(one.client).call(cnames.create, { body: { name: second, isDefault: true } });
  await shows(`g-both.${one.suffix}`, ['A 192.0.2.1']);
  await shows(`g-both.${second}`, ['A 192.0.2.1']);
  await app.as(one.client).call(cnames.remove, { body: { ids: [made.id] } });
  await shows(`g-both.${second}`, []);
  const { data } = await app.as(one.client).call(cnames.list, {});
  expect(data).toMatchObject([{ name: one.suffix, isDefault: true }]);
});

test('an account that replaces a hanging one is compared at once', async () => {
  const front = await startDnsApiProxy(dns.url);
  onTestFinished(() => front.stop());
  const other = await startPowerDns([zone]);
  onTestFinished(() => other.stop());
  const one = await operator(front.url);
  const name = `g-1.${one.suffix}`;
  await want(one, 'g-1', [set('default', '192.0.2.1')]);
  await shows(name, ['A 192.0.2.1']);
  await settled(one);
  const listing = front.holdNext('GET');
  await app.as(one.client).call(dnsSetting.compare, { body: { ids: [one.settingID] } });
  await listing.arrived;
  const body = { ...powerDns(other.url), rootDomain: zone };
  await app.as(one.client).call(dnsSetting.create, { body });
  listing.release();
  await eventually(
    async () => expect(await queryDns(other.nameServer, name)).toEqual(['A 192.0.2.1']),
    generousTimeout,
  );
});

test("a group's answers are updated before all other pending names", async () => {
  const front = await startDnsApiProxy(dns.url);
  onTestFinished(() => front.stop());
  const one = await operator(front.url);
  front.setMode('broken');
  for (const label of ['a-site', 'g-group']) await want(one, label, [set('default', '192.0.2.1')]);
  const { db, pool } = app.installation;
  const account = await db.dnsSetting.findUniqueOrThrow({ where: { id: one.settingID } });
  await eventually(async () => {
    const due = await takeDue(pool, account);
    expect(due.map(({ name }) => name)).toEqual([`g-group.${one.suffix}`, `a-site.${one.suffix}`]);
  }, generousTimeout);
});

test('unchanged names do not wait for a lock on rows that another process writes', async () => {
  const one = await operator();
  await want(one, 'stays', [set('default', '192.0.2.9')]);
  await settled(one);
  const { db, pool } = app.installation;
  const writer = await pool.connect();
  try {
    await writer.query('BEGIN');
    const { rowCount } = await writer.query('SELECT FROM dns_names WHERE setting_id = $1 FOR UPDATE', [one.settingID]);
    expect(rowCount).toBe(1);
    await pool.query('INSERT INTO dns_plans (client_id) VALUES ($1)', [one.clientId]);
    await eventually(async () => expect(await db.dnsPlan.count({ where: { clientId: one.clientId } })).toBe(0));
  } finally {
    await writer.query('ROLLBACK');
    writer.release();
  }
});

test('an invalid value is rejected before the batch and delays nothing', async () => {
  const one = await operator();
  const attacks = [`192.0.2.1'}) os.execute('id') --`, '192.0.2.1" "', '$(id)', '::1'];
  for (const [i, value] of attacks.entries())
    await want(one, `g-bad${i}`, [set('default', value), set('country-TW', '192.0.2.3')]);
  await want(one, 'g-good', [set('default', '192.0.2.1')]);
  await shows(`g-good.${one.suffix}`, ['A 192.0.2.1']);
  await eventually(async () => {
    const rows = await unprocessed(one);
    expect(rows.map(({ fault }) => fault)).toEqual(attacks.map(() => expect.stringMatching(/is no A value$/)));
  });
});

test(
  'a failing provider delays only its own names, its error is shown, and it is retried on request',
  { timeout: 300_000 },
  async () => {
    const moods: [ProxyMode, RegExp, number][] = [
      // The provider's Retry-After.
      ['busy', /too many/, 300_000],
      ['broken', /out of order/, 0],
      ['garbage', /not understood/, 0],
      ['silent', /socket hang up|no answer/, 0],
    ];
    const ill = await Promise.all(
      moods.map(async ([mood, fault, waitsMs]) => {
        const front = await startDnsApiProxy(dns.url);
        onTestFinished(() => front.stop());
        const one = await operator(front.url);
        await settled(one);
        front.setMode(mood);
        return { mood, fault, waitsMs, front, one };
      }),
    );
    const well = await operator();
    for (const { one } of [...ill, { one: well }]) await want(one, 'g-day', [set('default', '192.0.2.1')]);
    await shows(`g-day.${well.suffix}`, ['A 192.0.2.1']);
    for (const { mood, fault, waitsMs, front, one } of ill) {
      await eventually(async () => {
        // Repeats the silence, which each time lasts ten seconds.
        if (mood === 'silent') front.setMode(mood);
        const rows = await unprocessed(one);
        expect(rows).toMatchObject([{ name: `g-day.${one.suffix}`, fault: expect.stringMatching(fault) }]);
        const { heldUntil, faultAt } = await settingOf(one);
        expect(Date.parse(heldUntil ?? '') - Date.parse(faultAt ?? '')).toBeGreaterThan(waitsMs);
      }, generousTimeout);
      // Check before the provider recovers, or the next attempt may already be in flight.
      expect(await ask(`g-day.${one.suffix}`)).toEqual([]);
      front.setMode('fine');
      await eventually(async () => {
        await app.as(one.client).call(dnsSetting.recovery, { body: {} });
        expect(await ask(`g-day.${one.suffix}`)).toEqual(['A 192.0.2.1']);
      }, generousTimeout);
      await settled(one);
    }
  },
);

/** A process that only reconciles DNS. */
function otherReconciler() {
  const environment = {
    ...process.env,
    DATABASE_URL: app.installation.env.DATABASE_URL,
    NATS_URL: app.installation.env.NATS_URL,
    SECRETS_DIR: services().secretsDir,
    ORIGIN_ALLOW: '127.0.0.0/8',
  };
  const program = new URL('../support/services/dns-reconciler.ts', import.meta.url).pathname;
  return spawn(process.execPath, [program], { env: environment, stdio: 'ignore' });
}

test('two kills midway lead to the same final state', { timeout: 180_000 }, async () => {
  const front = await startDnsApiProxy(dns.url);
  onTestFinished(() => front.stop());
  // No other process reconciles these names.
  await reconciler.stop();
  const one = await operator(front.url);
  const labels = Array.from({ length: 40 }, (_, i) => `g-k${i}`);
  for (const label of labels) await want(one, label, [set('default', '192.0.2.1')]);
  for (const values of [['192.0.2.1'], ['192.0.2.2', '192.0.2.3']]) {
    for (const label of labels) await want(one, label, [set('default', ...values)]);
    const child = otherReconciler();
    const ended = once(child, 'exit');
    front.onChange(() => child.kill('SIGKILL'));
    await ended;
  }
  front.onChange(() => undefined);
  await want(one, 'g-k0', []);
  reconciler = startDnsReconciler(app.installation, console);
  await settled(one);
  expect(await ask(`g-k0.${one.suffix}`)).toEqual([]);
  for (const label of labels.slice(1))
    expect(await ask(`${label}.${one.suffix}`)).toEqual(['A 192.0.2.2', 'A 192.0.2.3']);
});

const hangingProcesses: [string, { endsSession: boolean }][] = [
  ['a process without its account does not win with its pending writes', { endsSession: true }],
  // It takes as long as the database waits for a session that sends nothing.
  ['a hanging process loses its account, and its pending writes do not win', { endsSession: false }],
];

test.each(casesOfRun(hangingProcesses, 2))('%s', { timeout: 300_000 }, async (_, { endsSession }) => {
  const front = await startDnsApiProxy(dns.url);
  onTestFinished(() => front.stop());
  await reconciler.stop();
  const one = await operator(front.url);
  for (const label of ['g-late', 'g-gone']) await want(one, label, [set('default', '192.0.2.1')]);
  const [late, gone] = [`g-late.${one.suffix}`, `g-gone.${one.suffix}`];
  const change = front.holdNext('PATCH');
  const hung = otherReconciler();
  const ended = once(hung, 'exit');
  onTestFinished(async () => {
    hung.kill('SIGKILL');
    await ended;
  });
  await change.arrived;
  await hang(hung);
  if (endsSession) await endLockSession();
  await want(one, 'g-late', [set('default', '192.0.2.2')]);
  await want(one, 'g-gone', []);
  reconciler = startDnsReconciler(app.installation, console);
  // Takes over when the database has ended the session.
  await shows(late, ['A 192.0.2.2'], undefined, { within: 180_000 });
  await settled(one);

  change.release();
  for (const name of [late, gone]) await shows(name, ['A 192.0.2.1']);
  hung.kill('SIGCONT');
  await shows(late, ['A 192.0.2.2']);
  await shows(gone, []);
  await settled(one);
  expect(await unprocessed(one)).toEqual([]);
});

/** Stops the process outside of transactions, whose row locks the database would end later than its session. */
const hang = (running: ChildProcess) =>
  eventually(async () => {
    running.kill('SIGSTOP');
    const { rowCount } = await app.installation.pool.query(
      `SELECT FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`,
    );
    if (rowCount !== 0) running.kill('SIGCONT');
    expect(rowCount).toBe(0);
  }, generousTimeout);

/** Ends the session with the locks of the only running process, as the database does after twenty silent seconds. */
async function endLockSession() {
  const { rowCount } = await app.installation.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'edgeloom-dns'`,
  );
  expect(rowCount).toBeGreaterThan(0);
}

test("a provider's own line names are mapped; lines that it lacks get the default answer", async () => {
  const tenant = await app.build.client();
  const { keyID, keySecret } = dnspod.key;
  const body = {
    dnsType: 'dnspod' as const,
    credentials: { keyID, keySecret },
    rootDomain: 'example.org',
    cname: 'cdn.example.org',
  };
  const made = await app.as(tenant.client).call(dnsSetting.create, { body });
  const one = { ...tenant, suffix: 'cdn.example.org', settingID: made.id };
  const shared = { ...weighted([2, 70], [4, 30]), line: 'ct' };
  await want(one, 'g-lines', [set('default', '192.0.2.1'), shared, set('cht', '192.0.2.3')]);
  await settled(one);
  await eventually(() =>
    expect(
      dnspod.records.rows.map(({ name, line, values, weight }) => [name, line, ...values, weight]).toSorted(),
    ).toEqual([
      ['g-lines.cdn.example.org', '0', '192.0.2.1', undefined],
      ['g-lines.cdn.example.org', '10=0', '192.0.2.2', 70],
      ['g-lines.cdn.example.org', '10=0', '192.0.2.4', 30],
    ]),
  );
  expect(await settingOf(one)).toMatchObject({ lines: ['ct', 'overseas'], weighting: 'eachLine', drifted: 0 });
  const offered = (await app.as(one.client).call(dnsSetting.lines, {})).data.filter(({ isOffered }) => isOffered);
  expect(offered.map(({ line }) => line)).toEqual(['default', 'ct', 'overseas']);
});

test('a batch with one rejected name applies the rest, and a provider without weights per line reports that', async () => {
  const tenant = await app.build.client();
  const { keyID, keySecret } = route53.key;
  const body = {
    dnsType: 'route53' as const,
    credentials: { keyID, keySecret },
    rootDomain: 'example.net',
    cname: 'cdn.example.net',
  };
  const made = await app.as(tenant.client).call(dnsSetting.create, { body });
  const one = { ...tenant, suffix: 'cdn.example.net', settingID: made.id };
  const tooLong = `g-${'x'.repeat(70)}`;
  const shared = weighted([192, 100], [193, 1]);
  await want(one, tooLong, [set('default', '192.0.2.1')]);
  await want(one, 'g-shared', [shared]);
  await want(one, 'g-lines', [shared, set('continent-AS', '192.0.2.5')]);
  for (let at = 0; at < 27; at += 1) await want(one, `g-r${at}`, [set('default', '192.0.2.1')]);
  await eventually(async () => {
    const fault = expect.stringContaining('DomainLabelTooLong');
    expect(await unprocessed(one)).toMatchObject([{ name: `${tooLong}.${one.suffix}`, fault }]);
    expect(await settingOf(one)).toMatchObject({ fault: null, weighting: 'oneLine' });
  }, generousTimeout);
  const there = route53.records.rows.map(({ name, line, values }) => [name.split('.')[0], line, ...values]);
  expect(there).toHaveLength(31);
  const has = (xml: string) => expect.stringContaining(xml);
  expect(there).toEqual(
    expect.arrayContaining([
      ['g-lines', has('<CountryCode>*</CountryCode>'), '192.0.2.192', '192.0.2.193'],
      ['g-lines', has('<ContinentCode>AS</ContinentCode>'), '192.0.2.5'],
      ['g-shared', has('<Weight>100</Weight>'), '192.0.2.192'],
      ['g-shared', has('<Weight>1</Weight>'), '192.0.2.193'],
    ]),
  );
  expect(await app.as(one.client).call(dnsSetting.lines, {})).toMatchObject({ weighting: 'oneLine' });
});

test('an account is tested before it is stored, is never shown, and is replaced by its root domain', async () => {
  const { client } = await app.build.client();
  const wrong = { ...powerDns(), credentials: { url: dns.url, apiKey: 'another key' }, rootDomain: zone };
  const errorData = [expect.objectContaining({ target: zone, message: expect.stringMatching(/401|Unauthorized/) })];
  await expect(app.as(client).call(dnsSetting.test, { body: wrong })).toFail('DNS_FAILED', { errorData });
  await expect(app.as(client).call(dnsSetting.create, { body: wrong })).toFail('INVALID_DNS_SETTING', { errorData });
  const right = { ...powerDns(), rootDomain: zone };
  const tested = await app.as(client).call(dnsSetting.test, { body: right });
  expect(tested.lines).toEqual(expect.arrayContaining(['cht', 'overseas', 'country-TW', 'continent-EU']));
  const made = await app.as(client).call(dnsSetting.create, { body: right });
  expect(made.credentials).toMatch(/••••0123$/);
  expect(await app.as(client).call(dnsSetting.create, { body: right })).toMatchObject({ id: made.id });
  const outside = app.as(client).call(cnames.create, { body: { name: 'cdn.example.net' } });
  // The error number alone is ambiguous, so its path is checked.
  const atName = [expect.objectContaining({ path: 'name', rule: 'outside' })];
  await expect(outside).toFail('INVALID_DNS_SETTING', { errorData: atName });
  await app.as(client).call(cnames.create, { body: { name: `cdn.${zone}` } });
  await expect(app.as(client).call(cnames.create, { body: { name: `a.cdn.${zone}` } })).toFail('PARAMETER');
});
