// Offline licenses: signed files of one installation, loaded by another. Here both are the same.
import { execFile } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { readFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { attention } from '@edgeloom/contract/attention/attention.endpoints.ts';
import type { Sent } from '@edgeloom/contract/endpoint.ts';
import { installationLicense, offlineLicenses } from '@edgeloom/contract/licenses/offline-licenses.endpoints.ts';
import type { SignedTerms } from '@edgeloom/contract/licenses/offline-licenses.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { unique } from '../support/builders/build.ts';
import { licenseFile } from '../support/builders/license-file.ts';
import { testApp } from '../support/services/app.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { noteLicenseTime } from '../support/services/background-work.ts';
import { testDir } from '../support/services/test-dir.ts';
import '../support/assertions/matchers.ts';

const DAY_MS = 86_400_000;
const cli = path.join(import.meta.dirname, '../../apps/api/src/cli.ts');
const run = (...terms: string[]) => promisify(execFile)(process.execPath, [cli, ...terms]);
const keys = path.join(await testDir(), 'keys');
await run('license:key', '--out', keys);
const [keyFile, publicFile] = [path.join(keys, 'license-key.pem'), path.join(keys, 'license-key.pub.pem')];
const key = createPrivateKey(await readFile(keyFile, 'utf8'));
const { as, build, installation, url, adminUrl, close } = await testApp({
  LICENSE_KEYS: publicFile,
  LICENSE_SIGNING_KEY: keyFile,
});
const { db } = installation;
afterAll(close);

const admin = await build.admin();
const { call } = as(admin);
const { machineCode } = await call(installationLicense.get);
const otherMachine = '0'.repeat(32);
const load = (license: string) => call(installationLicense.load, { body: { license } });
const create = (terms: Partial<Sent<typeof offlineLicenses.create>['body']> = {}) =>
  call(offlineLicenses.create, { body: { name: unique('offline'), ...terms } });
const issue = ({ id }: { id: string }, machine = machineCode) =>
  call(offlineLicenses.issue, { body: { id, machineCode: machine } });

const unload = () =>
  db.installationLicense.updateMany({
    data: { document: null, counter: 0, seenAt: null, notedAt: null, movedAt: null, loadedAt: null },
  });
afterEach(unload);
const signed = (terms: Partial<SignedTerms> = {}) => licenseFile(key, { machineCode, ...terms });
/** As if this time had been seen. */
const see = (days: number, notedAt = new Date()) =>
  db.installationLicense.updateMany({ data: { seenAt: inDays(days), notedAt } });
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);
const restoreElsewhere = async () => {
  const { installationId } = await db.installationLicense.findFirstOrThrow();
  onTestFinished(async () => void (await db.installationLicense.updateMany({ data: { installationId } })));
  await db.installationLicense.updateMany({ data: { installationId: randomUUID() } });
};
const ofInstallation = { errorData: [{ path: '', rule: 'installationLicense', message: '' }] };
const illegal = (rule: string) => ({ errorData: [expect.objectContaining({ path: 'license', rule })] });

describe('an offline license', () => {
  test('is created, changed, issued to one machine, freed and removed', async () => {
    const row = await create({ siteLimit: 3 });
    expect(row).toMatchObject({ siteLimit: 3, layer4: false, endsAt: null, machineCode: null, issuedAt: null });
    const file = await issue(row);
    const { data } = await call(offlineLicenses.list, { query: { sortBy: 'createdAt', orderBy: 'desc' } });
    expect(data[0]).toMatchObject({ id: row.id, machineCode });
    await expect(issue(row, otherMachine)).toFail('STILL_IN_USE');
    await expect(call(offlineLicenses.remove, { body: { ids: [row.id] } })).toFail('STILL_IN_USE');
    await expect(call(offlineLicenses.update, { body: { id: row.id, layer4: true } })).toFail('ILLEGAL_PORT_TYPE');
    expect(await call(offlineLicenses.free, { body: { id: row.id } })).toMatchObject({ machineCode: null });
    const elsewhere = await issue(row, otherMachine);
    const counterOf = (text: string): unknown => JSON.parse(text).license.counter;
    expect(counterOf(elsewhere.license)).toBeGreaterThan(Number(counterOf(file.license)));
    await call(offlineLicenses.free, { body: { id: row.id } });
    await call(offlineLicenses.remove, { body: { ids: [row.id] } });
    await expect(issue(row)).toFail('LICENSE_NOT_FOUND');
    await expect(call(offlineLicenses.free, { body: { id: row.id } })).toFail('LICENSE_NOT_FOUND');
  });

  test('is not issued after its end', async () => {
    const { id } = await create({ startsAt: inDays(-2).toISOString(), endsAt: inDays(-1).toISOString() });
    await expect(issue({ id })).toFail('LICENSE_EXPIRED');
    await call(offlineLicenses.update, { body: { id, endsAt: inDays(1).toISOString() } });
    expect(await issue({ id })).toMatchObject({ id });
  });

  test('is for administrators with the permission', async () => {
    const sub = as(await build.subAdmin(admin, { permissions: ['license:read'] }));
    expect((await sub.call(installationLicense.get)).machineCode).toMatch(/^[0-9a-f]{32}$/);
    await expect(sub.call(installationLicense.load, { body: { license: signed() } })).toFail('PERMISSION_DENIED');
    const { id } = await create();
    await expect(sub.call(offlineLicenses.issue, { body: { id, machineCode } })).toFail('PERMISSION_DENIED');
  });

  test('is loaded outside the families, by administrators only', async () => {
    const { client } = await build.client();
    const body = JSON.stringify({ license: signed() });
    const put = async (address: string, { token }: { token: string }) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      return (await fetch(`${address}/api/v1/offline/license`, { method: 'PUT', headers, body })).status;
    };
    expect([await put(url, client), await put(adminUrl, client)]).toEqual([404, 403]);
    expect([await put(url, admin), await put(adminUrl, admin)]).toEqual([404, 200]);
  });

  test('cannot be issued without a signing key, nor loaded without a trusted key', async () => {
    const plain = await testApp();
    const { call: without } = plain.as(await plain.build.admin());
    const body = { name: unique('offline') };
    const { id } = await without(offlineLicenses.create, { body });
    await expect(without(offlineLicenses.issue, { body: { id, machineCode } })).toFail('INVALID_LICENSE_SERVER');
    await expect(without(installationLicense.load, { body: { license: signed() } })).toFail('INVALID_LICENSE_SERVER');
    await plain.close();
  });

  test('that was loaded limits all operators together', async () => {
    const [one, other] = [await build.site(), await build.site()];
    const addSite = (site: typeof one) =>
      as(site.client).call(clientSites.create, { body: { name: unique('s'), productID: site.productId } });
    const limit = (await db.site.count()) + 2;
    const { license } = await issue(await create({ siteLimit: limit }));
    expect(await load(license)).toMatchObject({ license: { siteLimit: limit }, isExpired: false });
    const outcomes = await Promise.allSettled([addSite(one), addSite(other), addSite(one), addSite(other)]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    // The error says whose limit it is, and not how large.
    await expect(addSite(one)).toFail('SITE_LIMIT', { ...ofInstallation, extra: {} });
  });

  test('that has expired allows changes, but no additions', async () => {
    const site = await build.site();
    await load(signed());
    await see(2);
    const body = { name: unique('s'), productID: site.productId };
    await expect(as(site.client).call(clientSites.create, { body })).toFail('LICENSE_EXPIRED', ofInstallation);
    expect(await call(installationLicense.get)).toMatchObject({ isExpired: true });
    await as(site.client).call(clientSites.update, { body: { id: site.id, name: 'Renamed' } });
  });
});

describe('a license file is refused', () => {
  // license-file.test.ts changes every bit.
  test('when it was changed, is signed by others, or has a key twice', async () => {
    const text = signed();
    const changed = text.replace('"siteLimit":0', '"siteLimit":1');
    await expect(load(changed)).toFail('ILLEGAL_LICENSE', illegal('licenseSignature'));
    await expect(load(`${text}\n`)).toFail('ILLEGAL_LICENSE', illegal('licenseFormat'));
    await expect(load(' ')).toFail('LICENSE_NOT_FOUND');
    await expect(load(text.replace('"siteLimit":0', '"siteLimit":1,"siteLimit":0'))).toFail('DUPLICATE_KEYS');
    const { privateKey } = generateKeyPairSync('ed25519');
    const theirs = licenseFile(privateKey, { machineCode });
    await expect(load(theirs)).toFail('ILLEGAL_LICENSE', illegal('licenseSignature'));
    expect(await call(installationLicense.get)).toMatchObject({ license: null, loadedAt: null });
  });

  test('of another machine', async () => {
    await expect(load(signed({ machineCode: otherMachine }))).toFail('ILLEGAL_LICENSE', illegal('licenseMachine'));
  });

  test('with a lower counter than that of the last one', async () => {
    await load(signed({ counter: 100 }));
    await load(signed({ counter: 100 }));
    await load(signed({ counter: 101 }));
    await expect(load(signed({ counter: 100 }))).toFail('ILLEGAL_LICENSE', illegal('licenseCounter'));
  });

  test('before its start and after its end', async () => {
    await expect(load(signed({ notBefore: inDays(1) }))).toFail('ILLEGAL_LICENSE', illegal('licenseEarly'));
    await expect(load(signed({ notAfter: inDays(-1) }))).toFail('LICENSE_EXPIRED');
  });
});

describe('the time of the installation', () => {
  test('does not go back with its clock', async () => {
    const file = signed();
    await load(file);
    await see(2);
    await noteLicenseTime(installation);
    await expect(load(file)).toFail('LICENSE_EXPIRED');
    expect(await call(installationLicense.get)).toMatchObject({ isExpired: true });
  });

  test('passes while the clock is set back', async () => {
    const seenAt = async () => (await db.installationLicense.findFirstOrThrow()).seenAt?.getTime() ?? 0;
    await load(signed({ notAfter: inDays(400) }));
    // A stopped process counts no more than two minutes, and neither does a clock that jumps.
    await see(300, inDays(-1));
    const before = await seenAt();
    await noteLicenseTime(installation);
    expect(await seenAt()).toBe(before + 120_000);
    await see(300, inDays(1));
    const later = await seenAt();
    await noteLicenseTime(installation);
    expect(await seenAt()).toBe(later);
  });

  test('that a wrong clock has stored is corrected by a newer file', async () => {
    await load(signed({ counter: 5 }));
    await see(30_000);
    await expect(load(signed({ counter: 5 }))).toFail('LICENSE_EXPIRED');
    expect(await load(signed({ counter: 6 }))).toMatchObject({ isExpired: false });
    // The corrected time stays.
    await noteLicenseTime(installation);
    expect(await call(installationLicense.get)).toMatchObject({ isExpired: false });
  });

  // Regression: a second file of the license gave its whole term again.
  test('is not wound back to before the signing of a newer file', async () => {
    await load(signed({ counter: 5 }));
    await see(30_000);
    const issuedAt = inDays(0.5);
    await load(signed({ counter: 6, issuedAt }));
    expect(await db.installationLicense.findFirstOrThrow()).toMatchObject({ seenAt: issuedAt });
    await expect(load(signed({ counter: 7, issuedAt: inDays(2) }))).toFail('LICENSE_EXPIRED');
  });

  test('may be a few minutes behind the time of the seller', async () => {
    const notBefore = new Date(Date.now() + 600_000);
    expect(await load(signed({ notBefore }))).toMatchObject({ license: { notBefore: notBefore.toISOString() } });
  });
});

describe('a database that was restored into another cluster', () => {
  const addSite = async () => {
    const site = await build.site();
    return as(site.client).call(clientSites.create, { body: { name: unique('s'), productID: site.productId } });
  };

  test('keeps its license for 14 days, and says so', async () => {
    await load(signed({ notAfter: inDays(100) }));
    expect(await call(installationLicense.get)).toMatchObject({ otherMachineUntil: null });
    await restoreElsewhere();
    await addSite();
    await noteLicenseTime(installation);
    const movedAt = async () => (await db.installationLicense.findFirstOrThrow()).movedAt;
    const first = await movedAt();
    await noteLicenseTime(installation);
    expect(await movedAt()).toEqual(first);
    expect(await call(installationLicense.get)).toMatchObject({
      isExpired: false,
      otherMachineUntil: new Date((first?.getTime() ?? 0) + 14 * DAY_MS).toISOString(),
    });
    await db.installationLicense.updateMany({ data: { movedAt: inDays(-15) } });
    await expect(addSite()).toFail('LICENSE_EXPIRED', ofInstallation);
    expect(await call(installationLicense.get)).toMatchObject({ isExpired: true });
    await expect(load(signed({ counter: 200 }))).toFail('ILLEGAL_LICENSE', illegal('licenseMachine'));
  });

  test('has its license again when it is back on the former cluster', async () => {
    await load(signed());
    await db.installationLicense.updateMany({ data: { movedAt: inDays(-15) } });
    await addSite();
    await noteLicenseTime(installation);
    expect(await db.installationLicense.findFirstOrThrow()).toMatchObject({ movedAt: null });
  });
});

test('the dashboard of administrators shows its end, another machine and limits that are near', async () => {
  const shown = async () =>
    (await call(attention.list)).data.filter(({ kind }) => kind.startsWith('installationLicense'));
  expect(await shown()).toEqual([]);
  await load(signed({ name: 'A', notAfter: inDays(40) }));
  expect(await shown()).toEqual([]);
  const notAfter = inDays(20);
  await build.site();
  const siteLimit = await db.site.count();
  await load(signed({ name: 'A', notAfter, siteLimit: siteLimit * 20 }));
  expect(await shown()).toMatchObject([
    { kind: 'installationLicenseEnding', names: ['A'], endsAt: notAfter.toISOString(), limit: null },
  ]);
  await load(signed({ name: 'A', notAfter: inDays(40), siteLimit }));
  expect(await shown()).toMatchObject([
    { kind: 'installationLicenseNearLimit', limit: { of: 'sites', uses: siteLimit, most: siteLimit } },
  ]);
  await load(signed({ notAfter: inDays(40) }));
  await restoreElsewhere();
  expect(await shown()).toMatchObject([{ kind: 'installationLicenseMoved' }]);
  const movedAt = inDays(-15);
  await db.installationLicense.updateMany({ data: { movedAt } });
  expect(await shown()).toMatchObject([
    { kind: 'installationLicenseEnded', endsAt: new Date(movedAt.getTime() + 14 * DAY_MS).toISOString() },
  ]);
  const sub = as(await build.subAdmin(admin, { permissions: [] }));
  expect((await sub.call(attention.list)).data).toEqual([]);
});

// Regression: the whole dashboard failed, and each one counted five tables a minute.
test('the dashboard of an installation without a license asks for no machine code', async () => {
  const { rows } = await installation.pool.query<{ sql: string }>(
    `SELECT pg_get_functiondef('machine_code'::regproc) AS sql`,
  );
  onTestFinished(async () => void (await installation.pool.query(rows[0]?.sql ?? '')));
  await installation.pool.query(
    `CREATE OR REPLACE FUNCTION machine_code() RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE 'denied'; END $$`,
  );
  expect((await call(attention.list)).data).toEqual(expect.any(Array));
});

describe('the lock of the installation', () => {
  test('is not taken for what the license does not limit', async () => {
    await load(signed({ domainLimit: 1000 }));
    await db.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT id FROM installation_license FOR UPDATE`;
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('installation license sites', 0))`;
      const site = await build.site();
      const body = { name: unique('s'), productID: site.productId };
      expect(await as(site.client).call(clientSites.create, { body })).toMatchObject({ name: body.name });
    });
  });

  // Regression: all operators waited while one copied a template, or waited for a name.
  test('is not held by a creation that waits', async () => {
    const [slow, other] = [await build.site(), await build.site()];
    await load(signed({ siteLimit: 10_000 }));
    const name = unique('s');
    const add = (site: typeof slow, name: string) =>
      as(site.client).call(clientSites.create, { body: { name, productID: site.productId } });
    const { adding } = await db.$transaction(
      async (tx) => {
        await tx.site.update({ where: { id: slow.id }, data: { name } });
        const adding = expect(add(slow, name)).toFail('DUPLICATED');
        await eventually(async () => {
          const { rows } = await installation.pool.query<{ query: string }>(
            "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
          );
          expect(rows).toMatchObject([{ query: expect.stringContaining('sites') }]);
        });
        expect(await add(other, name)).toMatchObject({ name });
        return { adding };
      },
      { timeout: 60_000 },
    );
    await adding;
  });
});

test('a file that a later release has signed with more fields still counts', async () => {
  await load(signed({ siteLimit: 1 }));
  const { document } = await db.installationLicense.findFirstOrThrow();
  const later = (document ?? '').replace('"layer4"', '"laterField":1,"layer4"');
  await db.installationLicense.updateMany({ data: { document: later } });
  const site = await build.site();
  const body = { name: unique('s'), productID: site.productId };
  await expect(as(site.client).call(clientSites.create, { body })).toFail('SITE_LIMIT', ofInstallation);
  expect(await call(installationLicense.get)).toMatchObject({ license: { siteLimit: 1 } });
});

// Regression: the highest counter was that of the licenses that still exist.
test('counters rise over all files, also after a clock was too high and its license was removed', async () => {
  const [first, second] = [await create(), await create()];
  await installation.pool.query(`SELECT setval('license_counter', 9000000000000)`);
  const counterOf = async (row: typeof first) => Number(JSON.parse((await issue(row)).license).license.counter);
  expect(await counterOf(first)).toBe(9_000_000_000_001);
  await call(offlineLicenses.free, { body: { id: first.id } });
  await call(offlineLicenses.remove, { body: { ids: [first.id] } });
  expect(await counterOf(second)).toBe(9_000_000_000_002);
});

test.each([
  ['no public key', keyFile],
  ['a missing file', path.join(keys, 'none.pem')],
])('%s in LICENSE_KEYS is an error of the server', async (_, file) => {
  const plain = await testApp({ LICENSE_KEYS: file, LICENSE_SIGNING_KEY: path.join(keys, 'none.pem') });
  const { call: there } = plain.as(await plain.build.admin());
  await expect(there(installationLicense.load, { body: { license: signed() } })).toFail('INVALID_LICENSE_SERVER');
  const { id } = await there(offlineLicenses.create, { body: { name: unique('offline') } });
  await expect(there(offlineLicenses.issue, { body: { id, machineCode } })).toFail('INVALID_LICENSE_SERVER');
  await plain.close();
});

test('a command makes the keys, and signs a file without a database', async () => {
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
  await expect(run('license:key', '--out', keys)).rejects.toThrow('exists');
  await rename(keyFile, `${keyFile}.away`);
  await expect(run('license:key', '--out', keys)).rejects.toThrow('exists');
  await rename(`${keyFile}.away`, keyFile);
  const terms = ['--machine', machineCode, '--name', 'Offline', '--sites', '7', '--ends', '2100-01-01'];
  const { stdout } = await run('license:sign', '--key', keyFile, ...terms);
  expect((await load(stdout)).license).toMatchObject({
    name: 'Offline',
    siteLimit: 7,
    layer4: false,
    notAfter: '2100-01-01T00:00:00.000Z',
  });
});
