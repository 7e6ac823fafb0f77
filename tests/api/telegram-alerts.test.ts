// Alerts in a Telegram chat: each begin and each end once, whatever happens between the decision and the delivery.
import { alertFrequency, notifySetting } from '@edgeloom/contract/notify-setting/notify-setting.endpoints.ts';
import { AlertKind, alertKinds } from '@edgeloom/contract/alerts/alerts.ts';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { BOT_TOKEN, CHAT_ID, startTelegram } from '../support/fakes/telegram.ts';
import { testApp } from '../support/services/app.ts';
import {
  claimMessage,
  deliver,
  deliverAlerts,
  forgetAlerts,
  raiseAlerts,
} from '../support/services/background-work.ts';
import '../support/assertions/matchers.ts';

const telegram = await startTelegram();
const { as, build, installation, close } = await testApp({
  ORIGIN_ALLOW: '127.0.0.0/8',
  TELEGRAM_API_URL: telegram.url,
});
const { db, pool } = installation;
afterAll(async () => {
  await close();
  await telegram.stop();
});
beforeEach(() => void telegram.texts.splice(0));

const setting = { enabled: true, token: BOT_TOKEN, chatID: CHAT_ID, events: ['cnameInactive' as const] };
async function set(who: SignedInAccount, more: Partial<typeof setting> = {}) {
  await db.account.update({ where: { id: who.id }, data: { language: 'en' } });
  return as(who).call(notifySetting.updateTelegram, { body: { ...setting, ...more } });
}
const pass = () => raiseAlerts(installation);
const passAndDeliver = async () => {
  await pass();
  await deliverAlerts(installation);
};
const setStatus = (id: string, cnameStatus: 'active' | 'inactive') =>
  db.domain.update({ where: { id }, data: { cnameStatus } });
/** Ends leases and waits of retries. */
const hurry = () =>
  pool.query(`UPDATE alert_messages SET due_at = now() - interval '1 second', claimed_until = NULL WHERE is_pending`);

async function siteWithDomain(channelOf: 'client' | 'owner' = 'client') {
  const site = await build.site();
  const domain = await build.domain({ site });
  await set(site[channelOf]);
  return { site, domain };
}
async function inactiveDomains(site: BuiltSite, count: number) {
  for (let i = 0; i < count; i += 1) await setStatus((await build.domain({ site })).id, 'inactive');
}

test('the begin and the end of an alert are sent once each', async () => {
  const { domain, site } = await siteWithDomain();
  await setStatus(domain.id, 'inactive');
  await passAndDeliver();
  await passAndDeliver();
  const named = `CNAME not active: ${domain.name} (site ${site.name})`;
  expect(telegram.texts).toEqual([`🟠 ${named}`]);
  await setStatus(domain.id, 'active');
  await passAndDeliver();
  await passAndDeliver();
  expect(telegram.texts).toEqual([`🟠 ${named}`, `🟢 Ended: ${named}`]);
});

test('many alerts at once are one message', async () => {
  const { site } = await siteWithDomain();
  await inactiveDomains(site, 22);
  await passAndDeliver();
  expect(telegram.texts).toHaveLength(1);
  expect(telegram.texts[0]).toMatch(/ and 2 more$/);
});

test('a customer gets the alerts of its sites, and none of other customers', async () => {
  const { site, domain } = await siteWithDomain('owner');
  const beside = await build.site({ product: site.product });
  await inactiveDomains(beside, 1);
  await setStatus(domain.id, 'inactive');
  await passAndDeliver();
  expect(telegram.texts).toEqual([expect.stringContaining(domain.name)]);
});

test('a process killed after the decision, and one killed after it took the message, lose and repeat nothing', async () => {
  const { domain } = await siteWithDomain();
  await setStatus(domain.id, 'inactive');
  await pass();
  expect(await claimMessage(pool, 'telegram')).not.toBeNull();
  await deliverAlerts(installation);
  expect(telegram.texts).toEqual([]);
  await hurry();
  await Promise.all([deliverAlerts(installation), deliverAlerts(installation)]);
  expect(telegram.texts).toHaveLength(1);
});

const claim = async () => (await claimMessage(pool, 'telegram')) ?? expect.fail('no message is due');
const never = new AbortController().signal;

test('an error of the database is no error of the chat, and the message is sent again after the lease', async () => {
  const { site, domain } = await siteWithDomain();
  await setStatus(domain.id, 'inactive');
  await pass();
  // It goes away after the lease was renewed, while the text is sent.
  let isAway = false;
  const query = async (text: string, values: unknown[]) => {
    if (isAway) throw new Error('the database is away');
    isAway = true;
    return pool.query(text, values);
  };
  const broken = Object.assign(Object.create(pool), { query });
  await expect(deliver({ ...installation, pool: broken }, { ...(await claim()), text: 'x' }, never)).rejects.toThrow(
    'the database is away',
  );
  expect(await as(site.client).call(notifySetting.getTelegram)).toMatchObject({ lastError: null });
  await deliverAlerts(installation);
  expect(telegram.texts).toHaveLength(1);
  await hurry();
  await deliverAlerts(installation);
  expect(telegram.texts).toHaveLength(2);
});

/** Twenty names with the name of their site are longer than a message of Telegram. */
async function longMessage() {
  const { site } = await siteWithDomain();
  await db.site.update({ where: { id: site.id }, data: { name: 'x'.repeat(256) } });
  await inactiveDomains(site, 20);
  await pass();
  return site;
}

test('a long text continues after the last part that was sent, also in another language', async () => {
  const site = await longMessage();
  telegram.refuseAfter(1, 502);
  await deliverAlerts(installation);
  expect(telegram.texts).toHaveLength(1);
  await db.account.update({ where: { id: site.client.id }, data: { language: 'zh-TW' } });
  await hurry();
  await deliverAlerts(installation);
  expect(telegram.texts).toHaveLength(2);
  expect(telegram.texts.join('').match(/x{256}/g)).toHaveLength(20);
  expect(telegram.texts.join('')).toContain('CNAME not active');
});

test('a stop ends between parts, and another process continues at once', async () => {
  await longMessage();
  await deliver(installation, await claim(), AbortSignal.abort());
  expect(telegram.texts).toEqual([]);
  await deliverAlerts(installation);
  expect(telegram.texts).toHaveLength(2);
});

/** A process delivers a message that another one has claimed since. Then the other one delivers it. */
async function deliverClaimedTwice() {
  const first = await claim();
  await hurry();
  const second = await claim();
  await deliver(installation, first, never);
  expect(telegram.texts).toEqual([]);
  await deliver(installation, second, never);
}

test('a process whose lease another one took sends no further part', async () => {
  await longMessage();
  await deliverClaimedTwice();
  expect(telegram.texts).toHaveLength(2);
});

test('a process whose lease another one took does not resume the message', async () => {
  await longMessage();
  await pool.query(`UPDATE alert_messages SET text = repeat('x', 5000), parts_sent = 1 WHERE is_pending`);
  await deliverClaimedTwice();
  expect(telegram.texts).toHaveLength(1);
});

test('a message waits as long as Telegram asks', async () => {
  const { domain, site } = await siteWithDomain();
  await setStatus(domain.id, 'inactive');
  telegram.refuseNext(429, 3600);
  await passAndDeliver();
  const { rows } = await pool.query<{ isLater: boolean }>(
    `SELECT m.due_at > now() + interval '50 minutes' AS "isLater" FROM alert_messages m JOIN alert_channels c ON c.id = m.channel_id
      WHERE m.is_pending AND c.client_id = $1`,
    [site.clientId],
  );
  expect(rows).toEqual([{ isLater: true }]);
  await hurry();
  await deliverAlerts(installation);
  expect(telegram.texts).toHaveLength(1);
});

test('alerts that begin during an outage of Telegram are one message afterwards', async () => {
  const { site, domain } = await siteWithDomain();
  await setStatus(domain.id, 'inactive');
  telegram.refuseNext(502);
  await passAndDeliver();
  expect(await as(site.client).call(notifySetting.getTelegram)).toMatchObject({ lastError: 'status' });
  await pool.query(`UPDATE alert_messages SET due_at = now() + interval '1 hour' WHERE is_pending`);
  for (let i = 0; i < 3; i += 1) {
    await inactiveDomains(site, 1);
    await passAndDeliver();
  }
  await hurry();
  await deliverAlerts(installation);
  await passAndDeliver();
  expect(telegram.texts).toHaveLength(2);
  expect(await as(site.client).call(notifySetting.getTelegram)).toMatchObject({ lastError: null });
});

test('within the interval of the operator, alerts of a kind are collected', async () => {
  const { site, domain } = await siteWithDomain();
  await as(site.client).call(alertFrequency.update, { body: { intervalMinutes: 30, grouping: 'kind' } });
  await setStatus(domain.id, 'inactive');
  await passAndDeliver();
  await inactiveDomains(site, 2);
  await setStatus(domain.id, 'active');
  await passAndDeliver();
  expect(telegram.texts).toHaveLength(1);
  await pool.query(`UPDATE alert_messages SET created_at = created_at - interval '31 minutes'`);
  await passAndDeliver();
  expect(telegram.texts).toHaveLength(2);
  expect(telegram.texts[1]?.split('\n')).toHaveLength(2);
});

test('a channel that was turned off sends nothing, also not later', async () => {
  const { site, domain } = await siteWithDomain();
  await setStatus(domain.id, 'inactive');
  await pass();
  await set(site.client, { enabled: false });
  await deliverAlerts(installation);
  await set(site.client);
  await passAndDeliver();
  await setStatus(domain.id, 'active');
  await passAndDeliver();
  expect(telegram.texts).toEqual([]);
});

test('a message that a pass stores while its channel is turned off is not sent later', async () => {
  const { site, domain } = await siteWithDomain();
  await setStatus(domain.id, 'inactive');
  // As in a pass that read the channel before it was turned off, and ends after that.
  await set(site.client, { enabled: false });
  await db.alertChannel.updateMany({ where: { accountId: site.client.id }, data: { enabled: true } });
  await pass();
  await db.alertChannel.updateMany({ where: { accountId: site.client.id }, data: { enabled: false } });
  await set(site.client);
  await passAndDeliver();
  expect(telegram.texts).toEqual([]);
});

/** Runs `work` while `statements` are not committed, until it has ended or waits for a lock and `meanwhile` is done. */
async function beside(
  statements: string,
  id: string,
  work: () => Promise<unknown>,
  meanwhile = async (): Promise<unknown> => undefined,
) {
  const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  const client = await pool.connect();
  let running: Promise<unknown> | null = null;
  try {
    await client.query('BEGIN');
    await client.query(statements.replaceAll('$1', `'${id}'`));
    let hasEnded = false;
    running = work().finally(() => (hasEnded = true));
    await expect.poll(async () => hasEnded || (await pool.query(waiting)).rowCount === 1).toBe(true);
    await meanwhile();
    await client.query('COMMIT');
  } finally {
    // Without effect after the commit.
    await client.query('ROLLBACK');
    client.release();
    await running;
  }
}

test('a channel that is turned off during a pass gets no notice', async () => {
  const { domain, site } = await siteWithDomain();
  await setStatus(domain.id, 'inactive');
  await beside('UPDATE alert_channels SET enabled = FALSE WHERE account_id = $1', site.client.id, pass);
  expect(await db.alertNotice.count({ where: { channel: { accountId: site.client.id } } })).toBe(0);
});

const LOCK_CHANNEL = 'SELECT 1 FROM alert_channels WHERE account_id = $1 FOR UPDATE';

test('a slow pass does not look like an outage of the control plane', async () => {
  const { domain, site } = await siteWithDomain();
  await setStatus(domain.id, 'inactive');
  let slowUntil: unknown;
  await beside(LOCK_CHANNEL, site.client.id, pass, async () => {
    const { rows } = await pool.query('SELECT clock_timestamp()::timestamptz(3) AS now');
    slowUntil = rows[0]?.now;
  });
  const { rows } = await pool.query('SELECT seen_at >= $1 AS "isLater" FROM alert_node_link', [slowUntil]);
  expect(rows).toEqual([{ isLater: true }]);
  await deliverAlerts(installation);
});

test.each([
  ['sent', () => undefined],
  ['refused', () => telegram.refuseNext(502)],
])('a message that was %s during a slow pass is stored at once', async (_, prepare) => {
  const { domain, site } = await siteWithDomain();
  await setStatus(domain.id, 'inactive');
  await pass();
  prepare();
  const message = await claim();
  const deliverIt = () => deliver(installation, message, never).catch(() => undefined);
  await beside(LOCK_CHANNEL, site.client.id, deliverIt, async () => {
    const lease = async () => (await db.alertMessage.findUniqueOrThrow({ where: { id: message.id } })).claimedUntil;
    await expect.poll(lease).toBeNull();
  });
  await hurry();
  await deliverAlerts(installation);
  expect(telegram.texts).toHaveLength(1);
});

const LOCK_ACCOUNT = 'SELECT 1 FROM accounts WHERE id = $1 FOR UPDATE;';

test('overlapping first saves store one setting', async () => {
  const { client } = await build.client();
  const insert = `${LOCK_ACCOUNT} INSERT INTO alert_channels (id, client_id, account_id, type, name, enabled, kinds, address, updated_at)
    SELECT gen_random_uuid(), client_id, id, 'telegram', '', FALSE, '{}', '', now() FROM accounts WHERE id = $1`;
  await beside(insert, client.id, async () => as(client).call(notifySetting.updateTelegram, { body: setting }));
  expect(await db.alertChannel.findMany({ where: { accountId: client.id } })).toMatchObject([{ address: CHAT_ID }]);
});

test('a save without a token keeps one that is saved at the same time', async () => {
  const { client } = await build.client();
  await set(client);
  const renew = `${LOCK_ACCOUNT} UPDATE alert_channels SET secret_sealed = 'newer' WHERE account_id = $1`;
  const body = { enabled: true, chatID: CHAT_ID, events: setting.events };
  await beside(renew, client.id, async () => as(client).call(notifySetting.updateTelegram, { body }));
  expect(await db.alertChannel.findMany({ where: { accountId: client.id } })).toMatchObject([
    { secretSealed: 'newer' },
  ]);
});

test('a corrected chat gets what waits at once', async () => {
  const { site, domain } = await siteWithDomain();
  await set(site.client, { chatID: '42' });
  await setStatus(domain.id, 'inactive');
  await passAndDeliver();
  expect(await as(site.client).call(notifySetting.getTelegram)).toMatchObject({ lastError: 'chat' });
  await set(site.client);
  await deliverAlerts(installation);
  expect(telegram.texts).toHaveLength(1);
});

test('the end of an alert is reported after its begin was forgotten', async () => {
  const { domain, site } = await siteWithDomain();
  await setStatus(domain.id, 'inactive');
  await passAndDeliver();
  await pool.query(`UPDATE alert_messages SET created_at = now() - interval '91 days'`);
  await forgetAlerts(installation);
  await setStatus(domain.id, 'active');
  await passAndDeliver();
  expect(telegram.texts).toEqual([expect.stringContaining('🟠'), expect.stringContaining('🟢')]);
  await pool.query(`UPDATE alert_messages SET created_at = now() - interval '91 days'`);
  await forgetAlerts(installation);
  expect(await db.alertMessage.count({ where: { channel: { accountId: site.client.id } } })).toBe(0);
});

test('a customer that lost its site gets neither what waited nor the end', async () => {
  const { site, domain } = await siteWithDomain('owner');
  await setStatus(domain.id, 'inactive');
  await as(site.client).call(alertFrequency.update, { body: { intervalMinutes: 30, grouping: 'all' } });
  await passAndDeliver();
  expect(telegram.texts).toHaveLength(1);
  await inactiveDomains(site, 1);
  await pass();
  await db.site.update({ where: { id: site.id }, data: { ownerId: (await build.user(site)).id } });
  await pool.query(`UPDATE alert_messages SET created_at = created_at - interval '31 minutes'`);
  await setStatus(domain.id, 'active');
  await passAndDeliver();
  await passAndDeliver();
  expect(telegram.texts).toHaveLength(1);
});

test('a paused customer gets nothing, also not later', async () => {
  const { site, domain } = await siteWithDomain('owner');
  await setStatus(domain.id, 'inactive');
  await pass();
  await db.account.update({ where: { id: site.owner.id }, data: { status: 'lock' } });
  await deliverAlerts(installation);
  await setStatus(domain.id, 'active');
  await passAndDeliver();
  await db.account.update({ where: { id: site.owner.id }, data: { status: 'normal' } });
  await passAndDeliver();
  expect(telegram.texts).toEqual([]);
});

test('a sub-account does not change the frequency', async () => {
  const tenant = await build.client();
  const sub = await build.subClient(tenant, [], { permissions: ['notify:read', 'notify:write'] });
  await expect(as(sub).call(alertFrequency.update, { body: { intervalMinutes: 1440, grouping: 'all' } })).toFail(
    'PERMISSION_DENIED',
  );
});

test('a token is checked, kept when it is left out, and never returned', async () => {
  const { client } = await build.client();
  const unknown = `123456:${'B'.repeat(35)}`;
  await expect(set(client, { token: unknown })).toFail('ILLEGAL_TELEGRAM_TOKEN');
  await expect(set(client, { token: '../getMe?' })).toFail('ILLEGAL_TELEGRAM_TOKEN');
  const rest = { enabled: true, chatID: CHAT_ID, events: setting.events };
  const update = () => as(client).call(notifySetting.updateTelegram, { body: rest });
  await expect(update()).toFail('PARAMETER');
  const answers = [await set(client), await update(), await as(client).call(notifySetting.getTelegram)];
  for (const answer of answers) {
    expect(answer).toMatchObject({ enabled: true, hasToken: true, chatID: CHAT_ID, events: ['cnameInactive'] });
    expect(JSON.stringify(answer)).not.toContain(BOT_TOKEN.slice(7));
  }
});

test('a test message shows whether the bot may write to the chat', async () => {
  const { client } = await build.client();
  const send = () => as(client).call(notifySetting.testTelegram);
  await expect(send()).toFail('PARAMETER');
  await set(client, { enabled: false });
  expect(await send()).toEqual({ error: null });
  expect(telegram.texts).toEqual(['This is a test. Alerts will be sent to this chat.']);
  await set(client, { chatID: '42' });
  expect(await send()).toEqual({ error: 'chat' });
});

test('users choose among the kinds of their sites; sub-accounts see no channel', async () => {
  const site = await build.site();
  const events = [...AlertKind.options];
  const body = { ...setting, enabled: false, events };
  const ofSites = events.filter((kind) => alertKinds[kind].isOfSite);
  expect((await as(site.owner).call(notifySetting.updateTelegram, { body })).events).toEqual(ofSites);
  expect((await as(site.client).call(notifySetting.updateTelegram, { body })).events).toEqual(events);
  const sub = await build.subUser(site.owner, [site]);
  await expect(as(sub).call(notifySetting.getTelegram)).toFail('PERMISSION_DENIED');
});
