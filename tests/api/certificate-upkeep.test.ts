// Background jobs for certificates.
import { createServer } from 'node:https';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import { askRenewals, clearEndedChallenges, tellEnds, tidy } from '../support/services/background-work.ts';
import { unique } from '../support/builders/build.ts';
import { createAuthority } from '../support/builders/certificate-authority.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { mailsTo, mailTo } from '../support/assertions/mailbox.ts';
import { freePort } from '../support/services/ports.ts';
import { testDir } from '../support/services/test-dir.ts';

const DAY_MS = 86_400_000;
const ca = await createAuthority();
const port = await freePort();
const rootFile = path.join(await testDir(), 'root.pem');
await writeFile(rootFile, ca.rootPem);
const directory = `https://localhost:${port}/dir`;

// A CRL that lists a revocation of tomorrow.
const start = new Date(Date.now() + DAY_MS);
const end = new Date(Date.now() + 2 * DAY_MS);
const asked: string[] = [];
const { chainPem: cert, keyPem: key } = await ca.issue(['localhost']);
const server = createServer({ cert, key }, (request, answer) => {
  asked.push(request.url ?? '');
  const isDirectory = request.url === '/dir';
  answer.setHeader('content-type', 'application/json').setHeader('retry-after', '21600');
  answer.end(
    JSON.stringify(
      isDirectory ? { renewalInfo: `https://localhost:${port}/ari` } : { suggestedWindow: { start, end } },
    ),
  );
}).listen(port, '127.0.0.1');
await once(server, 'listening');

const app = await testApp({ ACME_AUTHORITIES: JSON.stringify([{ name: 'Test', directory, rootFile }]) });
const { as, build, installation } = app;
const { db } = installation;
afterAll(async () => {
  await app.close();
  server.closeAllConnections();
  server.close();
});

test("an authority's renewal information is followed", async () => {
  const site = await build.site();
  const { chainPem } = await ca.issue(['ari.example.com']);
  const nextAt = new Date(Date.now() + 60 * DAY_MS);
  const { id } = await build.certificate(site, ['ari.example.com'], {
    type: 'automatic',
    nextAt,
    askAt: new Date(0),
    keyTypes: ['ecdsa'],
  });
  await db.certificatePair.updateMany({ where: { certificateId: id }, data: { chainPem, ca: directory } });
  await askRenewals(installation, new Date());
  const row = await db.certificate.findUniqueOrThrow({ where: { id } });
  expect(row.nextAt?.getTime()).toBeGreaterThanOrEqual(start.getTime());
  expect(row.nextAt?.getTime()).toBeLessThanOrEqual(end.getTime());
  expect(row.askAt?.getTime()).toBeGreaterThan(Date.now() + 5 * 3_600_000);
  expect(asked.at(-1)).toMatch(/^\/ari\/[\w-]+\.[\w-]+$/);
  const count = asked.length;
  await askRenewals(installation, new Date());
  expect(asked).toHaveLength(count);
});

test('the owner of a site is notified 14, 7 and 1 days before a used certificate expires, once each', async () => {
  const site = await build.site();
  const domain = await build.domain({ site });
  const notAfter = new Date(Date.now() + 100 * DAY_MS);
  const used = await build.certificate(site, [domain.name], { notAfter, name: 'the shop' });
  await build.certificate(site, ['nobody.example.com'], { notAfter });
  await db.domain.update({ where: { id: domain.id }, data: { certificateId: used.id } });
  const daysBefore = (days: number) => tellEnds(installation, new Date(notAfter.getTime() - days * DAY_MS));
  expect(await daysBefore(15)).toBe(0);
  expect(await daysBefore(13.9)).toBe(1);
  expect(await daysBefore(10)).toBe(0);
  expect(await Promise.all([daysBefore(6), daysBefore(6)])).toContain(1);
  expect(await daysBefore(0.5)).toBe(1);
  expect(await daysBefore(0.4)).toBe(0);
  const mail = await mailTo(app.mailDir, site.owner.email, /in 1 days|1 天/);
  expect(mail.text).toContain('the shop');
  expect(mail.text).toContain(site.name);
  await eventually(async () => expect(await mailsTo(app.mailDir, site.owner.email)).toHaveLength(3));
});

// Regression: a thousand certificates whose owners had been notified hid the next one.
test('an owner is notified, however many others have been', async () => {
  const site = await build.site();
  const notAfter = new Date(Date.now() + 300 * DAY_MS);
  const rows = Array.from({ length: 1001 }, (_, i) => ({
    siteId: site.id,
    name: `certificate ${i}`,
    status: 'success',
    notAfter,
    noticedEnd: i === 1000 ? null : notAfter,
    noticedDays: 1,
  }));
  const made = await db.certificate.createManyAndReturn({ data: rows, select: { id: true, name: true } });
  await db.domain.createMany({
    data: made.map(({ id, name }) => ({
      siteId: site.id,
      name: `${name.replace(' ', '-')}.${site.name}.example.com`,
      enabled: false,
      certificateId: id,
    })),
  });
  expect(await tellEnds(installation, new Date(notAfter.getTime() - DAY_MS / 2))).toBe(1);
});

test('the client is notified for sites without owner', async () => {
  const site = await build.site();
  const domain = await build.domain({ site });
  await db.site.update({ where: { id: site.id }, data: { ownerId: null } });
  const { id } = await build.certificate(site, [domain.name], { notAfter: new Date(Date.now() + 200 * DAY_MS) });
  await db.domain.update({ where: { id: domain.id }, data: { certificateId: id } });
  expect(await tellEnds(installation, new Date(Date.now() + 199.5 * DAY_MS))).toBe(1);
  expect((await mailTo(app.mailDir, site.client.email, /in 1 days|1 天/)).text).toContain(site.name);
});

test('steps and orders are deleted after 400 days, or after 200 newer ones; open ones stay', async () => {
  const site = await build.site();
  const [long, busy] = [
    await build.certificate(site, ['long.example.com']),
    await build.certificate(site, ['busy.example.com']),
  ];
  const now = Date.now();
  const ago = (days: number) => new Date(now - days * DAY_MS);
  const rows = async (certificateId: string, moments: Date[]) => {
    await db.certificateEvent.createMany({ data: moments.map((at) => ({ certificateId, at, step: 'ordered' })) });
    await db.certificateOrder.createMany({
      data: moments.map((endedAt) => ({ certificateId, keyType: 'ecdsa', state: 'failed', dueAt: endedAt, endedAt })),
    });
  };
  await rows(long.id, [ago(401), ago(399), ago(1)]);
  await rows(
    busy.id,
    Array.from({ length: 1300 }, (_, i) => ago(i / 1e4)),
  );
  const open = { certificateId: busy.id, keyType: 'rsa', openFor: `${busy.id} rsa`, dueAt: ago(500) };
  await db.certificateOrder.create({ data: open });
  await Promise.all([tidy(installation.pool, new Date(now)), tidy(installation.pool, new Date(now))]);
  const left = async (certificateId: string) => [
    await db.certificateEvent.count({ where: { certificateId } }),
    await db.certificateOrder.count({ where: { certificateId, state: 'failed' } }),
  ];
  expect(await left(long.id)).toEqual([2, 2]);
  expect(await left(busy.id)).toEqual([200, 200]);
  expect(await db.certificateOrder.count({ where: { certificateId: busy.id, state: 'open' } })).toBe(1);
  const newest = await db.certificateEvent.findFirst({ where: { certificateId: busy.id }, orderBy: { at: 'desc' } });
  expect(newest?.at).toEqual(ago(0));
});

test('challenges of an order are removed when it is replaced or its certificate deleted', async () => {
  const site = await build.site();
  const domain = await build.domain({ site });
  const { id } = await build.certificate(site, [domain.name], { type: 'automatic', keyTypes: ['ecdsa'] });
  const order = () =>
    as(site.owner).call(certificates.update, {
      params: { siteId: site.id, certId: id },
      body: { source: 'automatic', names: [domain.name], keyTypes: ['ecdsa'] },
    });
  const shown = () => db.acmeChallenge.count({ where: { siteId: site.id } });
  const show = async () => {
    const { id: orderId } = await db.certificateOrder.findFirstOrThrow({ where: { certificateId: id, state: 'open' } });
    const proof = { token: orderId, orderId, type: 'http-01', name: domain.name, keyAuthorization: 'x' };
    await db.acmeChallenge.create({ data: { ...proof, siteId: site.id, zoneId: site.zone.id } });
  };
  await order();
  await show();
  await clearEndedChallenges(installation);
  expect(await shown()).toBe(1);
  await order();
  await clearEndedChallenges(installation);
  expect(await shown()).toBe(0);
  await show();
  await as(site.owner).call(certificates.remove, { params: { siteId: site.id }, body: { ids: [id] } });
  await clearEndedChallenges(installation);
  expect(await shown()).toBe(0);
});

test('two orders with the same challenge token keep it until both end', async () => {
  const site = await build.site();
  const orders = await Promise.all(
    ['a', 'b'].map(async (name) => {
      const { id } = await build.certificate(site, [`${unique(name)}.example.com`], { type: 'automatic' });
      const open = { certificateId: id, keyType: 'rsa', openFor: `${id} rsa`, dueAt: new Date() };
      return db.certificateOrder.create({ data: open });
    }),
  );
  const proof = { token: unique('token'), type: 'http-01', name: 'a.example.com', keyAuthorization: 'x' };
  const data = orders.map(({ id }) => ({ ...proof, orderId: id, siteId: site.id, zoneId: site.zone.id }));
  await db.acmeChallenge.createMany({ data });
  const [first, second] = orders;
  await db.certificateOrder.update({ where: { id: first?.id ?? '' }, data: { state: 'failed', openFor: null } });
  await clearEndedChallenges(installation);
  expect(await db.acmeChallenge.findMany({ where: { siteId: site.id }, select: { orderId: true } })).toEqual([
    { orderId: second?.id },
  ]);
});
