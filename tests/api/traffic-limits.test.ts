// The states of customers' traffic, with a moved clock. Sites that are limited answer 904
// (tests/edge/not-found-codes.test.ts).
import { afterAll, expect, test } from 'vitest';
import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { billingMonth } from '../support/builders/billing-months.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { mailsTo } from '../support/assertions/mailbox.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { testApp } from '../support/services/app.ts';
import { checkCustomer, limitTraffic } from '../support/services/background-work.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { as, build, installation } = app;
const { db } = installation;
afterAll(() => app.close());

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Later than the time of any other test, so that customers are due again. */
let year = 2031;
const nextYear = () => (year += 1);

const use = build.trafficUsage;

async function limitedSite(overLimitAction: 'none' | 'notify' | 'limit') {
  const site = await build.site();
  await db.product.update({ where: { id: site.productId }, data: { overLimitAction } });
  const from = billingMonth(nextYear(), 1).from;
  return { site, from };
}

const statusOf = async ({ id }: { id: string }) => (await db.site.findUniqueOrThrow({ where: { id } })).status;
const check = (time: number) => limitTraffic(installation, () => new Date(time));

/** Subjects of the mails to the customer, sorted, once the queue is empty. */
async function subjectsTo(site: BuiltSite): Promise<string[]> {
  await eventually(async () => expect(await db.outgoingMail.count()).toBe(0));
  return (await mailsTo(app.mailDir, site.owner.email)).map(({ subject }) => subject).toSorted();
}
const [warning, usedUp, limited] = ['流量已使用 80%', '流量已用完', '沒有剩餘流量，站點已停止服務'];
const ended = '流量包已到期';

test('a month: a warning, a limit that ends with a package, another, and the next month', async () => {
  const { site, from } = await limitedSite('limit');
  const beside = await build.site({ product: await build.product({ zone: site.zone }), owner: site.owner });
  await build.trafficPackage(site, { type: 'basic', bytes: 100n, startsAt: new Date(from) });

  await use(site, from, 79);
  await check(from + HOUR_MS);
  expect([await statusOf(site), await subjectsTo(site)]).toEqual(['normal', []]);

  await use(site, from + HOUR_MS, 1);
  await check(from + 2 * HOUR_MS);
  await check(from + 3 * HOUR_MS);
  expect([await statusOf(site), await subjectsTo(site)]).toEqual(['normal', [warning]]);

  await use(site, from + 3 * HOUR_MS, 20);
  // Two processes at the same time, and again later.
  await Promise.all([check(from + 4 * HOUR_MS), check(from + 4 * HOUR_MS)]);
  await check(from + 5 * HOUR_MS);
  expect([await statusOf(site), await statusOf(beside)]).toEqual(['limit', 'normal']);
  expect(await subjectsTo(site)).toEqual([warning, limited].toSorted());
  const keys = async () => (await outboxKeys(installation, site.zoneId)).filter((key) => key === siteKey(site.id));
  expect(await keys()).toHaveLength(1);
  const manual = as(site.client).call(clientSites.status, { body: { siteIDs: [site.id], status: 'normal' } });
  await expect(manual).toFail('SITE_TRAFFIC_LIMITED');

  await build.trafficPackage(site, { bytes: 10n, startsAt: new Date(from + 5 * HOUR_MS) });
  await check(from + 6 * HOUR_MS);
  expect([await statusOf(site), (await keys()).length]).toEqual(['normal', 2]);
  // 100 of 110 is a warning of another set of packages.
  expect(await subjectsTo(site)).toEqual([warning, warning, limited].toSorted());

  await use(site, from + 6 * HOUR_MS, 11);
  const { to } = billingMonth(year, 1);
  await check(to - 1);
  expect(await statusOf(site)).toBe('limit');
  await Promise.all([check(to + DAY_MS), check(to + DAY_MS)]);
  expect([await statusOf(site), (await keys()).length]).toEqual(['normal', 4]);
  expect(await subjectsTo(site)).toEqual([warning, warning, limited, limited].toSorted());

  // A late line of the month before changes neither the state nor the mails of this one.
  await use(site, to - HOUR_MS, 1000);
  await check(to + 2 * DAY_MS);
  expect([await statusOf(site), (await subjectsTo(site)).length]).toEqual(['normal', 4]);
});

test('a product that only notifies mails and keeps its sites in service, and one without action warns', async () => {
  for (const [action, mail] of [
    ['notify', usedUp],
    ['none', warning],
  ] as const) {
    const { site, from } = await limitedSite(action);
    await build.trafficPackage(site, { type: 'basic', bytes: 100n, startsAt: new Date(from) });
    await use(site, from, 500);
    await check(from + HOUR_MS);
    expect([await statusOf(site), await subjectsTo(site)]).toEqual(['normal', [mail]]);
  }
});

test('sites without any package are not limited', async () => {
  const { site, from } = await limitedSite('limit');
  await use(site, from, 500);
  await check(from + HOUR_MS);
  expect([await statusOf(site), await subjectsTo(site)]).toEqual(['normal', []]);
});

test('a site that is paused stays so, and is limited when it returns', async () => {
  const { site, from } = await limitedSite('limit');
  await build.trafficPackage(site, { type: 'basic', bytes: 100n, startsAt: new Date(from) });
  await use(site, from, 500);
  await db.site.update({ where: { id: site.id }, data: { status: 'pause' } });
  await check(from + HOUR_MS);
  // Regression: the customer got a mail that the traffic has put the sites out of service.
  expect([await statusOf(site), await subjectsTo(site)]).toEqual(['pause', []]);
  await db.site.update({ where: { id: site.id }, data: { status: 'normal' } });
  await check(from + 2 * HOUR_MS);
  expect([await statusOf(site), await subjectsTo(site)]).toEqual(['limit', [limited]]);
});

test.each(['package', 'action', 'owner', 'nobody'] as const)(
  'a limited site serves again when its cause is gone: %s',
  async (cause) => {
    const { site, from } = await limitedSite('limit');
    const bought = await build.trafficPackage(site, { type: 'basic', bytes: 100n, startsAt: new Date(from) });
    await use(site, from, 500);
    await check(from + HOUR_MS);
    expect(await statusOf(site)).toBe('limit');
    if (cause === 'package') await db.trafficPackage.delete({ where: { id: bought.id } });
    else if (cause === 'action')
      await db.product.update({ where: { id: site.productId }, data: { overLimitAction: 'notify' } });
    else {
      const ownerId = cause === 'owner' ? (await build.user(site)).id : null;
      await db.site.update({ where: { id: site.id }, data: { ownerId } });
    }
    await check(from + 2 * HOUR_MS);
    expect(await statusOf(site)).toBe('normal');
  },
);

test('a customer that cannot be compared does not hold back the others', async () => {
  const { site, from } = await limitedSite('limit');
  const other = await build.site();
  await db.product.update({ where: { id: other.productId }, data: { overLimitAction: 'limit' } });
  for (const each of [site, other]) {
    await build.trafficPackage(each, { type: 'basic', bytes: 100n, startsAt: new Date(from) });
    await use(each, from, 500);
  }
  // Each in turn, because either may be checked first.
  for (const [i, [refused, checked]] of [[site, other] as const, [other, site] as const].entries()) {
    await db.site.updateMany({ where: { id: { in: [site.id, other.id] } }, data: { status: 'normal' } });
    await installation.pool.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
       CREATE TRIGGER refuse BEFORE UPDATE ON sites FOR EACH ROW WHEN (NEW.id = '${refused.id}' AND NEW.status = 'limit') EXECUTE FUNCTION refuse()`,
    );
    await expect(check(from + (i + 1) * HOUR_MS)).rejects.toThrow('not compared');
    await installation.pool.query('DROP TRIGGER refuse ON sites; DROP FUNCTION refuse');
    expect([await statusOf(refused), await statusOf(checked)]).toEqual(['normal', 'limit']);
  }
});

// Used to keep the sites of a customer offline for ever when its only package had ended.
test('a customer whose only package ended this month is limited until the next one', async () => {
  const { site, from } = await limitedSite('limit');
  const { to } = billingMonth(year, 1);
  await build.trafficPackage(site, { startsAt: new Date(from), endsAt: new Date(from + HOUR_MS) });
  await check(from + 2 * HOUR_MS);
  expect([await statusOf(site), await subjectsTo(site)]).toEqual(['limit', [limited]]);
  const text = (await mailsTo(app.mailDir, site.owner.email))[0]?.text;
  expect(text).toContain('下個月開始時');
  expect(text).toContain('不設上限');
  // Used to begin to serve without a limit, and without a word.
  await check(to);
  await check(to + DAY_MS);
  expect([await statusOf(site), await subjectsTo(site)]).toEqual(['normal', [limited, ended].toSorted()]);
  await check(billingMonth(year, 3).from);
  expect(await subjectsTo(site)).toHaveLength(2);
});

// Used to be a mail that at least 80 % is used.
test.each(['none', 'notify'] as const)('a package that ends is mailed once as that: %s', async (action) => {
  const { site, from } = await limitedSite(action);
  await build.trafficPackage(site, { startsAt: new Date(from), endsAt: new Date(from + HOUR_MS) });
  await check(from + 2 * HOUR_MS);
  await check(billingMonth(year, 2).from);
  expect([await statusOf(site), await subjectsTo(site)]).toEqual(['normal', [ended]]);
});

// The second used to be the same notice as the first, so that its sites went offline without a mail.
test('each product whose packages end is mailed, also on different days and with a package for all products', async () => {
  const { site, from } = await limitedSite('limit');
  const { product } = site;
  const second = await build.product({ zone: site.zone });
  const third = await build.product({ zone: site.zone });
  await db.product.updateMany({ where: { id: { in: [second.id, third.id] } }, data: { overLimitAction: 'limit' } });
  await build.site({ product: second, owner: site.owner });
  await build.trafficPackage(site, { startsAt: new Date(from), endsAt: new Date(from + DAY_MS) });
  await build.trafficPackage(site, {
    productId: second.id,
    startsAt: new Date(from),
    endsAt: new Date(from + 5 * DAY_MS),
  });
  const mailed = async () => {
    await subjectsTo(site);
    const mails = await mailsTo(app.mailDir, site.owner.email);
    return [product, second, third].map(({ name }) => mails.filter(({ text }) => text.includes(name)).length);
  };
  await check(from + 2 * DAY_MS);
  expect(await mailed()).toEqual([1, 0, 0]);
  await check(from + 6 * DAY_MS);
  expect(await mailed()).toEqual([1, 1, 0]);
  await build.trafficPackage(site, {
    productId: null,
    startsAt: new Date(from + 6 * DAY_MS),
    endsAt: new Date(from + 7 * DAY_MS),
  });
  await check(from + 8 * DAY_MS);
  expect(await mailed()).toEqual([2, 2, 0]);
  // Its first site comes after the mail about the others.
  await build.site({ product: third, owner: site.owner });
  await check(from + 9 * DAY_MS);
  expect(await mailed()).toEqual([2, 2, 1]);
});

test('a package without renewal that is used up needs another one, and the mail says so', async () => {
  const { site, from } = await limitedSite('limit');
  const { to } = billingMonth(year, 1);
  await build.trafficPackage(site, { startsAt: new Date(from), bytes: 100n });
  await use(site, from, 100);
  await check(from + HOUR_MS);
  await subjectsTo(site);
  const [mail] = await mailsTo(app.mailDir, site.owner.email);
  expect(mail?.text).not.toContain('下個月開始時');
  await check(to + DAY_MS);
  expect(await statusOf(site)).toBe('limit');
  await build.trafficPackage(site, { startsAt: new Date(to), bytes: 100n });
  await check(to + 2 * DAY_MS);
  expect(await statusOf(site)).toBe('normal');
});

test('a hundred packages are one set in the notices', async () => {
  const { site, from } = await limitedSite('limit');
  await db.trafficPackage.createMany({
    data: Array.from({ length: 100 }, () => ({
      clientId: site.clientId,
      ownerId: site.owner.id,
      productId: site.productId,
      coveredProduct: site.productId,
      type: 'extra',
      bytes: 1n,
      startsAt: new Date(from),
    })),
  });
  await use(site, from, 100);
  await check(from + HOUR_MS);
  expect([await statusOf(site), await subjectsTo(site)]).toEqual(['limit', [limited]]);
});

// Regression: it mailed that the sites are offline.
test('a process whose lease another one took meanwhile neither changes a site nor mails', async () => {
  const { site, from } = await limitedSite('limit');
  await build.trafficPackage(site, { type: 'basic', bytes: 100n, startsAt: new Date(from) });
  await use(site, from, 500);
  await db.trafficCheck.create({ data: { ownerId: site.owner.id, dueAt: new Date(from + HOUR_MS) } });
  const stalled = { ownerId: site.owner.id, leasedUntil: new Date(from), countedUntil: null };
  await checkCustomer(installation, stalled, from + 1);
  expect([await statusOf(site), await subjectsTo(site)]).toEqual(['normal', []]);
  await check(from + 2 * HOUR_MS);
  expect([await statusOf(site), await subjectsTo(site)]).toEqual(['limit', [limited]]);
});

// Used to forget it, so that each list with its packages read its whole history.
test('what a removed customer used is counted a last time, and stays counted while its packages exist', async () => {
  const { site, from } = await limitedSite('limit');
  const { to } = billingMonth(year, 1);
  const { id } = await build.trafficPackage(site, { startsAt: new Date(from), bytes: 100n });
  await use(site, from, 60);
  await check(from + HOUR_MS);
  await db.site.delete({ where: { id: site.id } });
  await as(site.client).call(accounts.remove, { body: { ids: [site.owner.id] } });
  await check(to + 8 * DAY_MS);
  const counted = await db.trafficPackageMonth.findMany({ where: { packageId: id } });
  expect(counted).toMatchObject([{ month: new Date(from), bytes: 60n }]);
  const checks = () => db.trafficCheck.findMany({ where: { ownerId: site.owner.id } });
  expect(await checks()).toMatchObject([{ dueAt: null, countedUntil: new Date(to) }]);
  await check(to + 9 * DAY_MS);
  expect(await checks()).toHaveLength(1);
  await db.trafficPackage.delete({ where: { id } });
  await check(to + 10 * DAY_MS);
  expect(await checks()).toEqual([]);
});

test('the history of extra packages is read once, and again after a late line', async () => {
  const { site, from } = await limitedSite('limit');
  const { to } = billingMonth(year, 1);
  const { to: end } = billingMonth(year, 2);
  const { id } = await build.trafficPackage(site, { startsAt: new Date(from), bytes: 100n });
  await use(site, from, 60);
  await check(end + 8 * DAY_MS);
  const counted = () => db.trafficPackageMonth.findMany({ where: { packageId: id }, orderBy: { month: 'asc' } });
  const customer = () => db.trafficCheck.findUniqueOrThrow({ where: { ownerId: site.owner.id } });
  expect(await counted()).toMatchObject([{ month: new Date(from), bytes: 60n }]);
  expect((await customer()).countedUntil).toEqual(new Date(end));

  // Hours before are not read: these bytes have no effect.
  await use(site, to, 40);
  await check(end + 9 * DAY_MS);
  expect(await statusOf(site)).toBe('normal');
  await db.trafficCheck.update({ where: { ownerId: site.owner.id }, data: { countedUntil: new Date(to) } });
  await check(end + 10 * DAY_MS);
  expect(await counted()).toMatchObject([{ bytes: 60n }, { month: new Date(to), bytes: 40n }]);
  expect(await statusOf(site)).toBe('limit');
});
