// Mails before a site expires.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { mailsTo, mailTo } from '../support/assertions/mailbox.ts';
import { testApp } from '../support/services/app.ts';
import { notifyExpiringSites } from '../support/services/background-work.ts';

const app = await testApp();
const { as, build, installation } = app;
const { db } = installation;
afterAll(() => app.close());

const DAY_MS = 86_400_000;
/** The tests' sites expire years apart, so that a test sees no notice of another's. */
const future = (days: number) => new Date(Date.now() + days * DAY_MS);
const before = (expiry: Date, days: number) =>
  notifyExpiringSites(installation, new Date(expiry.getTime() - days * DAY_MS));

test('customer and operator are notified 30, 7 and 1 days before a site expires, once each', async () => {
  const site = await build.site();
  const expiry = future(1000);
  await db.site.update({ where: { id: site.id }, data: { expiresAt: expiry } });
  expect(await before(expiry, 31)).toBe(0);
  expect(await before(expiry, 29.9)).toBe(1);
  expect(await before(expiry, 8)).toBe(0);
  expect((await Promise.all([before(expiry, 6.9), before(expiry, 6.9)])).toSorted()).toEqual([0, 1]);
  expect(await before(expiry, 0.9)).toBe(1);
  expect(await before(expiry, 0.1)).toBe(0);
  for (const { email } of [site.owner, site.client]) {
    expect((await mailTo(app.mailDir, email, /in 1 days|1 天/)).text).toContain(site.name);
    await eventually(async () => expect(await mailsTo(app.mailDir, email)).toHaveLength(3));
  }
});

test('a later expiry has notices of its own, and an expired site has none', async () => {
  const site = await build.site();
  const first = future(2000);
  const setExpiry = (expiry: Date) =>
    as(site.client).call(clientSites.setExpiry, { body: { siteIDs: [site.id], expiry: expiry.toISOString() } });
  await setExpiry(first);
  expect(await before(first, 0.5)).toBe(1);
  const later = future(2040);
  await setExpiry(later);
  expect(await before(later, 35)).toBe(0);
  expect(await before(later, 20)).toBe(1);
  await db.site.update({ where: { id: site.id }, data: { status: 'expired' } });
  expect(await before(later, 0.5)).toBe(0);
});

// Regression: an operator with five hundred sites got as many mails.
test('sites that expire at the same time are in one mail to their operator, and to each customer', async () => {
  const product = await build.product();
  const [first, second] = [await build.site({ product }), await build.site({ product })];
  const third = await build.site({ product, owner: second.owner });
  const expiry = future(5000);
  await db.site.updateMany({ where: { clientId: product.clientId }, data: { expiresAt: expiry } });
  expect(await before(expiry, 0.5)).toBe(3);
  const { text } = await mailTo(app.mailDir, product.client.email, /Sites expire|多個站點/);
  for (const { name } of [first, second, third]) expect(text).toContain(name);
  expect((await mailTo(app.mailDir, second.owner.email, /Sites expire|多個站點/)).text).not.toContain(first.name);
  expect((await mailTo(app.mailDir, first.owner.email, /in 1 days|1 天/)).text).toContain(first.name);
  for (const { email } of [product.client, first.owner, second.owner])
    expect(await mailsTo(app.mailDir, email)).toHaveLength(1);
});

test('a site without owner is announced to its operator', async () => {
  const site = await build.site();
  const expiry = future(3000);
  await db.site.update({ where: { id: site.id }, data: { ownerId: null, expiresAt: expiry } });
  expect(await before(expiry, 0.5)).toBe(1);
  expect((await mailTo(app.mailDir, site.client.email, /in 1 days|1 天/)).text).toContain(site.name);
});

// Regression: a customer whose site was just renewed by 30 days got a mail that it expires soon.
test('an expiry that is set within 30 days has no notice of 30 days, and those of 7 and 1 days', async () => {
  const site = await build.site();
  const expiry = future(30);
  const setExpiry = () =>
    as(site.client).call(clientSites.setExpiry, { body: { siteIDs: [site.id], expiry: expiry.toISOString() } });
  await setExpiry();
  await before(expiry, 29.9);
  await before(expiry, 6.9);
  expect((await mailTo(app.mailDir, site.owner.email, /in 7 days|7 天/)).text).toContain(site.name);
  expect(await mailsTo(app.mailDir, site.owner.email)).toHaveLength(1);
});

// Regression: within an hour after the upgrade, customers who had renewed read that their sites expire soon.
test('the upgrade sends no notice whose time had come before', async () => {
  const folder = path.join(import.meta.dirname, '../../prisma/migrations/20261130020103_site_expiry_notices');
  const migration = await readFile(path.join(folder, 'migration.sql'), 'utf8');
  const site = await build.site();
  const expiry = future(20);
  await db.site.update({ where: { id: site.id }, data: { expiresAt: expiry } });
  await installation.pool.query(migration.slice(migration.indexOf('UPDATE')));
  await notifyExpiringSites(installation, new Date());
  await before(expiry, 6.9);
  await mailTo(app.mailDir, site.owner.email, /in 7 days|7 天/);
  expect(await mailsTo(app.mailDir, site.owner.email)).toHaveLength(1);
});

// Regression: the site went to the top of "last changed", and saving a form that was open failed with 412.
test('a notice does not count as a change of the site', async () => {
  const site = await build.site();
  const expiry = future(4000);
  await db.site.update({ where: { id: site.id }, data: { expiresAt: expiry } });
  const { updatedAt } = await db.site.findUniqueOrThrow({ where: { id: site.id } });
  expect(await before(expiry, 0.5)).toBe(1);
  expect((await db.site.findUniqueOrThrow({ where: { id: site.id } })).updatedAt).toEqual(updatedAt);
});
