// Alerts as signed requests to an operator's servers.
import { createHmac } from 'node:crypto';
import { WebhookBody } from '@edgeloom/contract/webhooks/webhooks.ts';
import { webhooks } from '@edgeloom/contract/webhooks/webhooks.endpoints.ts';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { unique } from '../support/builders/build.ts';
import { startOrigin, type Origin, type OriginRequest } from '../support/fakes/origin.ts';
import { testApp } from '../support/services/app.ts';
import { claimMessage, deliver, deliverAlerts, raiseAlerts } from '../support/services/background-work.ts';
import '../support/assertions/matchers.ts';

const { as, build, installation, close } = await testApp({ ORIGIN_ALLOW: '127.0.0.0/8' });
const { db, pool } = installation;
let receiver: Origin;
beforeAll(async () => {
  receiver = await startOrigin({});
});
afterAll(async () => {
  await close();
  await receiver.stop();
});

const input = (path: string) => ({
  name: unique('hook'),
  url: `http://127.0.0.1:${receiver.port}${path}`,
  enabled: true,
  events: ['cnameInactive' as const],
});
const passAndDeliver = async () => {
  await raiseAlerts(installation);
  await deliverAlerts(installation);
};
const hurry = () =>
  pool.query(`UPDATE alert_messages SET due_at = now() - interval '1 second', claimed_until = NULL WHERE is_pending`);
const deliveriesOf = async (who: SignedInAccount, webhookID: string) =>
  (await as(who).call(webhooks.deliveries, { params: { webhookID } })).data;

async function troubledSite(path: string) {
  const site = await build.site();
  const hook = await as(site.client).call(webhooks.create, { body: input(path) });
  const domain = await build.domain({ site });
  await db.domain.update({ where: { id: domain.id }, data: { cnameStatus: 'inactive' } });
  return { site, hook, domain };
}
function isSigned({ headers, body }: OriginRequest, secret: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const text = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
}

test('an alert is one signed request, which the delivery log shows', async () => {
  receiver.on('/ok', { status: 204 });
  const { site, hook, domain } = await troubledSite('/ok');
  await passAndDeliver();
  await passAndDeliver();
  const [request, ...others] = receiver.asked('/ok');
  expect(others).toEqual([]);
  expect(request && isSigned(request, hook.secret)).toBe(true);
  const body = WebhookBody.parse(JSON.parse(request?.body ?? ''));
  expect(body.data.events).toMatchObject([
    { kind: 'cnameInactive', severity: 'warning', phase: 'began', name: domain.name, siteName: site.name },
  ]);
  expect(await deliveriesOf(site.client, hook.id)).toMatchObject([
    { id: request?.headers['webhook-id'], tries: 1, sentAt: expect.any(String), nextTryAt: null, lastError: null },
  ]);
});

test('a failed request is repeated with the same id for a day, and can be sent again', async () => {
  receiver.on('/down', { status: 500 });
  const { site, hook } = await troubledSite('/down');
  await passAndDeliver();
  await hurry();
  await deliverAlerts(installation);
  const [delivery] = await deliveriesOf(site.client, hook.id);
  expect(delivery).toMatchObject({ tries: 2, lastError: 'status', sentAt: null, failedAt: null });
  await pool.query('UPDATE alert_messages SET expires_at = now() WHERE channel_id = $1', [hook.id]);
  await passAndDeliver();
  expect(await deliveriesOf(site.client, hook.id)).toMatchObject([{ failedAt: expect.any(String), nextTryAt: null }]);
  expect((await as(site.client).call(webhooks.list)).data).toMatchObject([{ lastError: 'status' }]);

  receiver.on('/down', { status: 200 });
  const ids = [delivery?.id ?? ''];
  await as(site.client).call(webhooks.resend, { params: { webhookID: hook.id }, body: { ids } });
  await deliverAlerts(installation);
  const requests = receiver.asked('/down');
  expect(requests).toHaveLength(3);
  expect(new Set(requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set(ids));
  expect(requests.every((request) => isSigned(request, hook.secret))).toBe(true);
  expect((await as(site.client).call(webhooks.list)).data).toMatchObject([{ lastError: null }]);
});

test('a message of kinds that this version does not know waits for a newer process', async () => {
  receiver.on('/newer', { status: 204 });
  const { site, hook } = await troubledSite('/newer');
  await raiseAlerts(installation);
  const change = `UPDATE alert_messages SET events = jsonb_set(events, '{0,kind}', to_jsonb($2::text)) WHERE channel_id = $1`;
  const setKind = (kind: string) => pool.query(change, [hook.id, kind]);
  await setKind('ofTomorrow');
  await deliverAlerts(installation);
  expect(receiver.asked('/newer')).toEqual([]);
  expect(await deliveriesOf(site.client, hook.id)).toMatchObject([
    { tries: 0, sentAt: null, failedAt: null, nextTryAt: expect.any(String), lastError: null },
  ]);
  await setKind('cnameInactive');
  await hurry();
  await deliverAlerts(installation);
  expect(receiver.asked('/newer')).toHaveLength(1);
});

test('redirects are not followed', async () => {
  receiver.on('/away', { status: 302, headers: { Location: '/elsewhere' } });
  const { site, hook } = await troubledSite('/away');
  await passAndDeliver();
  expect(receiver.asked('/elsewhere')).toEqual([]);
  expect(await deliveriesOf(site.client, hook.id)).toMatchObject([{ lastError: 'status' }]);
});

test('addresses that the outbound policy refuses are not stored', async () => {
  const { client } = await build.client();
  const create = (url: string) => as(client).call(webhooks.create, { body: { ...input('/'), url } });
  await expect(create('https://10.0.0.1/')).toFail('PARAMETER');
  await expect(create('https://169.254.169.254/latest')).toFail('PARAMETER');
  await expect(create('https://user:password@example.com/')).toFail('PARAMETER');
});

test.each(['127.0.0.1', 'localhost'])('the outbound policy holds for deliveries to %s', async (host) => {
  const { site, hook } = await troubledSite('/guarded');
  const address = `http://${host}:${receiver.port}/guarded`;
  await db.alertChannel.update({ where: { id: hook.id }, data: { address } });
  await raiseAlerts(installation);
  await deliverAlerts({ ...installation, env: { ...installation.env, ORIGIN_ALLOW: [] } });
  expect(receiver.asked('/guarded')).toEqual([]);
  expect(await deliveriesOf(site.client, hook.id)).toMatchObject([{ lastError: 'policy', sentAt: null }]);
});

test('a response is success by its status, whatever its body', async () => {
  receiver.on('/endless', { raw: 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx' });
  const { site, hook } = await troubledSite('/endless');
  await passAndDeliver();
  expect(await deliveriesOf(site.client, hook.id)).toMatchObject([{ sentAt: expect.any(String), lastError: null }]);
});

test('a message that is refused five times delays no other one, and is retried', async () => {
  receiver.on('/picky', { status: 413 });
  const { site, hook } = await troubledSite('/picky');
  await passAndDeliver();
  for (let tries = 1; tries < 5; tries += 1) {
    await hurry();
    await deliverAlerts(installation);
  }
  const refused = { tries: 5, failedAt: null, nextTryAt: expect.any(String) };
  expect(await deliveriesOf(site.client, hook.id)).toMatchObject([refused]);
  receiver.on('/picky', { status: 200 });
  await db.domain.update({ where: { id: (await build.domain({ site })).id }, data: { cnameStatus: 'inactive' } });
  await passAndDeliver();
  const sentCount = async () =>
    (await deliveriesOf(site.client, hook.id)).filter(({ sentAt }) => sentAt !== null).length;
  expect(await sentCount()).toBe(1);
  await hurry();
  await deliverAlerts(installation);
  expect(await sentCount()).toBe(2);
});

/** Phases and names of events in a receiver's requests, without the first ones. */
const eventsAt = (path: string, skipped: number) =>
  receiver
    .asked(path)
    .slice(skipped)
    .flatMap(({ body }) => WebhookBody.parse(JSON.parse(body)).data.events)
    .map(({ phase, name }) => `${phase} ${name}`);
const setStatus = (id: string, cnameStatus: 'active' | 'inactive') =>
  db.domain.update({ where: { id }, data: { cnameStatus } });

test('the end of an alert waits for a begin that its receiver refuses, and other alerts do not', async () => {
  receiver.on('/order', { status: 413 });
  const { site, hook, domain } = await troubledSite('/order');
  await passAndDeliver();
  for (let tries = 1; tries < 5; tries += 1) {
    await hurry();
    await deliverAlerts(installation);
  }
  const refusedCount = receiver.asked('/order').length;
  receiver.on('/order', { status: 200 });
  const other = await build.domain({ site });
  await setStatus(domain.id, 'active');
  await setStatus(other.id, 'inactive');
  await passAndDeliver();
  await hurry();
  await deliverAlerts(installation);
  await passAndDeliver();
  expect(eventsAt('/order', refusedCount)).toEqual([
    `began ${other.name}`,
    `began ${domain.name}`,
    `ended ${domain.name}`,
  ]);
  expect((await deliveriesOf(site.client, hook.id)).every(({ sentAt }) => sentAt !== null)).toBe(true);
});

test('a resent message leaves out begins whose end was delivered', async () => {
  receiver.on('/late', { status: 500 });
  const { site, hook, domain } = await troubledSite('/late');
  const other = await build.domain({ site });
  await setStatus(other.id, 'inactive');
  await passAndDeliver();
  await pool.query('UPDATE alert_messages SET expires_at = now() WHERE channel_id = $1', [hook.id]);
  const [givenUp] = await deliveriesOf(site.client, hook.id);
  const ids = [givenUp?.id ?? ''];
  receiver.on('/late', { status: 200 });
  const refusedCount = receiver.asked('/late').length;
  await setStatus(domain.id, 'active');
  await passAndDeliver();
  await resend(site.client, hook.id, ids);
  await deliverAlerts(installation);
  expect(eventsAt('/late', refusedCount)).toEqual([`ended ${domain.name}`, `began ${other.name}`]);
});

test('a message is not resent when the ends of all its alerts were delivered', async () => {
  receiver.on('/outdated', { status: 500 });
  const { site, hook, domain } = await troubledSite('/outdated');
  await passAndDeliver();
  await pool.query('UPDATE alert_messages SET expires_at = now() WHERE channel_id = $1', [hook.id]);
  const [givenUp] = await deliveriesOf(site.client, hook.id);
  receiver.on('/outdated', { status: 200 });
  await setStatus(domain.id, 'active');
  await passAndDeliver();
  const requestCount = receiver.asked('/outdated').length;
  await resend(site.client, hook.id, [givenUp?.id ?? '']);
  await deliverAlerts(installation);
  expect(receiver.asked('/outdated')).toHaveLength(requestCount);
  expect((await deliveriesOf(site.client, hook.id)).find(({ id }) => id === givenUp?.id)).toMatchObject({
    sentAt: null,
    failedAt: expect.any(String),
    nextTryAt: null,
    lastError: 'outdated',
  });
  expect((await as(site.client).call(webhooks.list)).data).toMatchObject([{ lastError: null }]);
});

test('a receiver delays its next attempt by at most fifteen minutes', async () => {
  receiver.on('/later', { status: 503, headers: { 'Retry-After': '86400' } });
  const { hook } = await troubledSite('/later');
  await passAndDeliver();
  const { rows } = await pool.query(
    `SELECT due_at BETWEEN now() + interval '10 minutes' AND now() + interval '15 minutes' AS "isLater"
      FROM alert_messages WHERE channel_id = $1`,
    [hook.id],
  );
  expect(rows).toEqual([{ isLater: true }]);
});

async function resend(who: SignedInAccount, webhookID: string, ids: string[]) {
  await as(who).call(webhooks.resend, { params: { webhookID }, body: { ids } });
}

test('a repeated delivery that fails does not hide the first one, and one that is pending keeps its wait', async () => {
  receiver.on('/again', { status: 200 });
  const { site, hook } = await troubledSite('/again');
  await passAndDeliver();
  const [first] = await deliveriesOf(site.client, hook.id);
  const ids = [first?.id ?? ''];
  receiver.on('/again', { status: 503 });
  await resend(site.client, hook.id, ids);
  await deliverAlerts(installation);
  const [failed] = await deliveriesOf(site.client, hook.id);
  expect(failed).toMatchObject({ sentAt: first?.sentAt, lastError: 'status', nextTryAt: expect.any(String) });
  await resend(site.client, hook.id, ids);
  expect(await deliveriesOf(site.client, hook.id)).toEqual([failed]);
  const tooMany = Array.from({ length: 51 }, () => ids[0] ?? '');
  await expect(resend(site.client, hook.id, tooMany)).toFail('PARAMETER');
});

test('another name of a disabled webhook keeps its log', async () => {
  receiver.on('/named', { status: 200 });
  const { site, hook } = await troubledSite('/named');
  await passAndDeliver();
  const save = () =>
    as(site.client).call(webhooks.update, { body: { ...input('/named'), id: hook.id, enabled: false } });
  await save();
  const [{ id } = { id: '' }] = await deliveriesOf(site.client, hook.id);
  await resend(site.client, hook.id, [id]);
  await save();
  expect(await deliveriesOf(site.client, hook.id)).toMatchObject([{ id, nextTryAt: expect.any(String) }]);
});

/** Ends the retries of other tests, so that a claim takes a message of this channel. */
const keepOnly = (channelId: string) =>
  pool.query('UPDATE alert_messages SET is_pending = FALSE WHERE channel_id <> $1', [channelId]);

test('a channel takes one slot, whatever it has to send', async () => {
  receiver.on('/slots', { status: 200 });
  const { site, hook } = await troubledSite('/slots');
  await passAndDeliver();
  await db.domain.update({ where: { id: (await build.domain({ site })).id }, data: { cnameStatus: 'inactive' } });
  await passAndDeliver();
  const ids = (await deliveriesOf(site.client, hook.id)).map(({ id }) => id);
  expect(ids).toHaveLength(2);
  await keepOnly(hook.id);
  await resend(site.client, hook.id, ids);
  const claims = await Promise.all(Array.from({ length: 5 }, async () => claimMessage(pool, 'webhook')));
  expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
  expect(await claimMessage(pool, 'webhook')).toBeNull();
});

/**
 * A pool of another process, whose statements stop between reading accounts and locking rows. `waiting` resolves when
 * one is stopped. The view is of this file's database only.
 */
async function stoppedProcess() {
  const GATE = 4711;
  const stopped = new pg.Pool({ connectionString: installation.env.DATABASE_URL, application_name: 'stopped', max: 1 });
  const holder = await pool.connect();
  await holder.query(`SELECT pg_advisory_lock(${GATE})`);
  await pool.query(`CREATE FUNCTION pass_gate() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$ BEGIN
      IF current_setting('application_name') = 'stopped' THEN PERFORM pg_advisory_xact_lock_shared(${GATE}); END IF;
      RETURN TRUE; END $$;
    ALTER TABLE accounts RENAME TO real_accounts;
    CREATE VIEW accounts AS SELECT * FROM real_accounts WHERE pass_gate()`);
  const isWaiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'stopped'
    AND wait_event_type = 'Lock'`;
  return {
    pool: stopped,
    waiting: () => expect.poll(async () => (await pool.query(isWaiting)).rowCount).toBe(1),
    open: () => holder.query(`SELECT pg_advisory_unlock(${GATE})`),
    stop: async () => {
      await holder.query('SELECT pg_advisory_unlock_all()');
      holder.release();
      await stopped.end();
      await pool.query('DROP VIEW accounts; ALTER TABLE real_accounts RENAME TO accounts; DROP FUNCTION pass_gate');
    },
  };
}

test.each([1, 2])(
  'a claim that read before another one was stored takes no message of its channel: %i',
  async (count) => {
    receiver.on('/claimed', { status: 200 });
    const { site, hook } = await troubledSite('/claimed');
    await passAndDeliver();
    if (count === 2) {
      await db.domain.update({ where: { id: (await build.domain({ site })).id }, data: { cnameStatus: 'inactive' } });
      await passAndDeliver();
    }
    const ids = (await deliveriesOf(site.client, hook.id)).map(({ id }) => id);
    expect(ids).toHaveLength(count);
    await keepOnly(hook.id);
    await resend(site.client, hook.id, ids);
    const other = await stoppedProcess();
    try {
      const late = claimMessage(other.pool, 'webhook');
      await other.waiting();
      expect(ids).toContain((await claimMessage(pool, 'webhook'))?.id);
      await other.open();
      expect(await late).toBeNull();
    } finally {
      await other.stop();
    }
  },
);

test('an attempt whose message was claimed again changes neither the message nor the channel', async () => {
  receiver.on('/overtaken', { status: 200 });
  const { site, hook } = await troubledSite('/overtaken');
  await raiseAlerts(installation);
  await keepOnly(hook.id);
  const claim = async () => {
    const claimed = await claimMessage(pool, 'webhook');
    if (claimed === null) throw new Error('no message is due');
    return claimed;
  };
  const never = new AbortController().signal;
  const endLease = () => pool.query('UPDATE alert_messages SET claimed_until = NULL WHERE channel_id = $1', [hook.id]);
  const first = await claim();
  await endLease();
  const second = await claim();
  await endLease();
  const third = await claim();
  await deliver(installation, first, never);
  expect(await deliveriesOf(site.client, hook.id)).toMatchObject([{ sentAt: null, nextTryAt: expect.any(String) }]);
  await deliver(installation, third, never);
  const after = await deliveriesOf(site.client, hook.id);
  expect(after).toMatchObject([{ sentAt: expect.any(String), lastError: null, nextTryAt: null }]);
  receiver.on('/overtaken', { status: 500 });
  await expect(deliver(installation, second, never)).rejects.toThrow('500');
  expect(await deliveriesOf(site.client, hook.id)).toEqual(after);
  expect((await as(site.client).call(webhooks.list)).data).toMatchObject([{ lastError: null }]);
});

test('the secret is shown once, names are unique, and there are at most ten', async () => {
  const { client } = await build.client();
  const call = as(client).call;
  const first = input('/unused');
  const hook = await call(webhooks.create, { body: first });
  expect(hook.secret).toMatch(/^whsec_/);
  await expect(call(webhooks.create, { body: first })).toFail('DUPLICATED');
  const changed = await call(webhooks.update, { body: { ...first, id: hook.id, enabled: false } });
  expect(JSON.stringify([changed, await call(webhooks.list)])).not.toContain('whsec_');
  for (let i = 1; i < 10; i += 1) await call(webhooks.create, { body: input('/unused') });
  await expect(call(webhooks.create, { body: input('/unused') })).toFail('LIMIT_REACHED');
  await call(webhooks.remove, { body: { ids: [hook.id] } });
  expect((await call(webhooks.list)).total).toBe(9);
});

test("another operator's webhooks are not found, and sub-accounts see none", async () => {
  const tenant = await build.client();
  const hook = await as(tenant.client).call(webhooks.create, { body: input('/unused') });
  const { client: stranger } = await build.client();
  const params = { webhookID: hook.id };
  await expect(as(stranger).call(webhooks.deliveries, { params })).toFail('NOT_FOUND');
  await expect(as(stranger).call(webhooks.remove, { body: { ids: [hook.id] } })).toFail('NOT_FOUND');
  await expect(as(stranger).call(webhooks.update, { body: { ...input('/'), id: hook.id } })).toFail('NOT_FOUND');
  const sub = await build.subClient(tenant, [], { permissions: ['webhook:read', 'webhook:write'] });
  await expect(as(sub).call(webhooks.list)).toFail('PERMISSION_DENIED');
});
