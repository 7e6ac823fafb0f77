// Time until names are created at a provider, and until half of them are restored after deletion. Uses a real PowerDNS,
// one reconciler process and a durable PostgreSQL.
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { wantSets } from '@edgeloom/api/dns-state/want-sets.ts';
import { startDnsReconciler } from '@edgeloom/api/jobs/reconcile-dns.job.ts';
import { dnsSetting } from '@edgeloom/contract/dns-setting/dns-setting.endpoints.ts';
import { queryDns } from '../support/assertions/query-dns.ts';
import { unique } from '../support/builders/build.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { benchPostgres } from '../support/services/own-postgres.ts';
import { startPowerDns } from '../support/services/power-dns.ts';
import { startApp } from '../support/services/running-app.ts';
import { startServices } from '../support/services/start-services.ts';

const GOAL_SECONDS = 60;
const options = parseArgs({
  options: {
    names: { type: 'string', default: '10000' },
    json: { type: 'string', default: '.data/bench/dns.json' },
  },
}).values;
const names = Number(options.names);
const loadBefore = loadavg()[0];
const stops: (() => Promise<unknown>)[] = [];
const rows: { what: string; seconds: number }[] = [];
const measured = async (what: string, work: () => Promise<unknown>) => {
  const began = performance.now();
  await work();
  rows.push({ what, seconds: Math.round(performance.now() - began) / 1000 });
};

try {
  const zone = 'bench.example.com';
  const services = await startServices();
  stops.unshift(() => services.stop());
  const postgres = await benchPostgres();
  stops.unshift(() => postgres.stop());
  const dns = await startPowerDns([zone]);
  stops.unshift(() => dns.stop());
  const app = await startApp(services, postgres.databaseUrl, { ORIGIN_ALLOW: '127.0.0.0/8' });
  stops.unshift(() => app.close());
  const { pool, db } = app.installation;
  const site = await app.build.site();
  const group = await db.group.create({ data: { zoneId: site.zoneId, name: 'main' } });
  await pool.query(
    `INSERT INTO sites (id, client_id, product_id, zone_id, group_id, name, updated_at)
     SELECT gen_random_uuid(), $1, $2, $3, $4, 'site ' || n, now() FROM generate_series(1, $5) n`,
    [site.clientId, site.productId, site.zoneId, group.id, names],
  );
  const suffix = `${unique('cdn')}.${zone}`;
  const set = (value: string) => ({
    line: 'default',
    type: 'A' as const,
    values: [{ value, weight: 1 }],
    ttlSeconds: 60,
  });
  // The group, the site of the zone's first group, and the sites above.
  const allNames = names + 2;
  const target = { clientId: site.clientId, label: group.dnsLabel };
  await wantSets(pool, target, [set('192.0.2.1')]);
  const credentials = { url: dns.url, apiKey: dns.apiKey };
  const body = { dnsType: 'powerDNS' as const, credentials, rootDomain: zone, cname: suffix };
  const { id } = await app.as(site.client).call(dnsSetting.create, { body });

  const settled = (count: number) =>
    eventually(
      async () => {
        const { rows: found } = await pool.query<{ done: number; late: number }>(
          'SELECT count(*)::int AS done, (count(*) FILTER (WHERE due_at IS NOT NULL))::int AS late FROM dns_names WHERE setting_id = $1',
          [id],
        );
        if (found[0]?.done !== count || found[0].late > 0) throw new Error(JSON.stringify(found[0]));
      },
      { within: 600_000 },
    );
  await measured(`${names} CNAMEs made`, async () => {
    const reconciler = startDnsReconciler(app.installation, console);
    stops.unshift(() => reconciler.stop());
    await settled(allNames);
  });
  const { rows: some } = await pool.query<{ name: string }>(
    'SELECT name FROM dns_names WHERE setting_id = $1 ORDER BY name LIMIT $2',
    [id, names / 2],
  );
  for (let at = 0; at < some.length; at += 1000)
    await dns.call(`/zones/${zone}.`, 'PATCH', {
      rrsets: some
        .slice(at, at + 1000)
        .flatMap(({ name }) => ['CNAME', 'A'].map((type) => ({ name: `${name}.`, type, changetype: 'DELETE' }))),
    });
  const [first] = some;
  const isThere = async (name: string, answer: string) =>
    eventually(
      async () => {
        const found = await queryDns(dns.nameServer, name);
        if (!found.some((one) => one.startsWith(answer))) throw new Error(`${name}: ${found.join(' ')}`);
      },
      { within: 600_000 },
    );
  await measured('half of them deleted by hand: found and repaired', async () => {
    await app.as(site.client).call(dnsSetting.compare, { body: { ids: [id] } });
    await isThere(first?.name ?? '', '');
    for (const { name } of [some.at(0), some.at(-1)].filter((one) => one !== undefined)) await isThere(name, 'CNAME');
    await settled(allNames);
  });
  await measured('another address of the group, until the name server answers it', async () => {
    await wantSets(pool, target, [set('192.0.2.2')]);
    await isThere(`${group.dnsLabel}.${suffix}`, 'A 192.0.2.2');
  });
} finally {
  for (const stop of stops) await stop();
}
console.table(rows);
console.log(`goal: made within ${GOAL_SECONDS} s, a change within 5 s`);
const machine = { cpus: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30), loadBefore };
await mkdir(path.dirname(options.json), { recursive: true });
await writeFile(options.json, JSON.stringify({ machine, rows }, null, 2));
