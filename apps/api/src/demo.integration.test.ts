import { expect, test } from 'vitest';
import { services, testDatabase } from '../../../tests/support/services/shared-services.ts';
import { openDatabase } from './core/db.ts';
import { seedDemo } from './demo.ts';

test('the site of the demo has the settings of a new site', async () => {
  const url = await testDatabase();
  const { siteID } = await seedDemo(url, {
    secretsDir: services().secretsDir,
    passwords: { admin: 'a-password', client: 'a-password', user: 'a-password' },
    joinToken: 'a-token',
    edge: { host: '127.0.0.1', http: 8080, https: 8443 },
    origin: { host: '127.0.0.1', port: 9000 },
  });
  const { db } = openDatabase(url, 1);
  const site = await db.site.findUniqueOrThrow({
    where: { id: siteID },
    select: { cacheSetting: { select: { heuristics: true } }, compression: { select: { gzip: true } } },
  });
  await db.$disconnect();
  expect(site).toEqual({ cacheSetting: { heuristics: true }, compression: { gzip: true } });
});
