// What happens to certificates while nobody looks.
import { createServer } from 'node:https';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { tellEnds } from '@edgeloom/api/acme/notices.ts';
import { askRenewals } from '@edgeloom/api/acme/renewal-info.ts';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../support/app.ts';
import { authority } from '../support/authority.ts';
import { mailsTo, mailTo } from '../support/mailbox.ts';
import { freePort } from '../support/ports.ts';
import { testDir } from '../support/test-dir.ts';

const DAY_MS = 86_400_000;
const ca = await authority();
const port = await freePort();
const rootFile = path.join(await testDir(), 'root.pem');
await writeFile(rootFile, ca.rootPem);
const directory = `https://localhost:${port}/dir`;

// An authority that takes certificates back tomorrow.
const start = new Date(Date.now() + DAY_MS);
const end = new Date(Date.now() + 2 * DAY_MS);
const asked: string[] = [];
const { chainPem: cert, keyPem: key } = await ca.sell(['localhost']);
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
const { build, installation } = app;
const { db } = installation;
afterAll(async () => {
  await app.close();
  server.closeAllConnections();
  server.close();
});

test('an authority that wants a certificate renewed earlier is heard', async () => {
  const site = await build.site();
  const { chainPem } = await ca.sell(['ari.example.com']);
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

test('the owner of a site is told 14, 7 and 1 days before a certificate that is in use ends, once each', async () => {
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
  expect(await mailsTo(app.mailDir, site.owner.email)).toHaveLength(3);
});
