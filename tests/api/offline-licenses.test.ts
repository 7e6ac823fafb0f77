// Offline licenses: signed files of one installation, loaded by another. Here both are the same.
import { execFile } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Sent } from '@edgeloom/contract/endpoint.ts';
import { installationLicense, offlineLicenses } from '@edgeloom/contract/licenses/offline-licenses.endpoints.ts';
import type { SignedTerms } from '@edgeloom/contract/licenses/offline-licenses.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { unique } from '../support/builders/build.ts';
import { licenseFile } from '../support/builders/license-file.ts';
import { testApp } from '../support/services/app.ts';
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
const { as, build, installation, close } = await testApp({ LICENSE_KEYS: publicFile, LICENSE_SIGNING_KEY: keyFile });
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
  db.installationLicense.updateMany({ data: { document: null, counter: 0, seenAt: null, loadedAt: null } });
afterEach(unload);
const signed = (terms: Partial<SignedTerms> = {}) => licenseFile(key, { machineCode, ...terms });
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

  test('is for administrators with the permission', async () => {
    const sub = as(await build.subAdmin(admin, { permissions: ['license:read'] }));
    expect((await sub.call(installationLicense.get)).machineCode).toMatch(/^[0-9a-f]{32}$/);
    await expect(sub.call(installationLicense.load, { body: { license: signed() } })).toFail('PERMISSION_DENIED');
    const { id } = await create();
    await expect(sub.call(offlineLicenses.issue, { body: { id, machineCode } })).toFail('PERMISSION_DENIED');
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
    await expect(addSite(one)).toFail('SITE_LIMIT', { extra: { limit } });
  });

  test('that has expired allows changes, but no additions', async () => {
    const site = await build.site();
    await load(signed());
    await noteLicenseTime(installation, new Date(Date.now() + 2 * DAY_MS));
    const body = { name: unique('s'), productID: site.productId };
    await expect(as(site.client).call(clientSites.create, { body })).toFail('LICENSE_EXPIRED');
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

  test('of another machine, and after the database was copied to another machine', async () => {
    await expect(load(signed({ machineCode: otherMachine }))).toFail('ILLEGAL_LICENSE', illegal('licenseMachine'));
    const site = await build.site();
    await load(signed());
    const { installationId } = await db.installationLicense.findFirstOrThrow();
    onTestFinished(async () => void (await db.installationLicense.updateMany({ data: { installationId } })));
    await db.installationLicense.updateMany({ data: { installationId: randomUUID() } });
    const body = { name: unique('s'), productID: site.productId };
    await expect(as(site.client).call(clientSites.create, { body })).toFail('ILLEGAL_LICENSE');
    await expect(load(signed())).toFail('ILLEGAL_LICENSE', illegal('licenseMachine'));
  });

  test('with a lower counter than that of the last one', async () => {
    await load(signed({ counter: 100 }));
    await load(signed({ counter: 100 }));
    await load(signed({ counter: 101 }));
    await expect(load(signed({ counter: 100 }))).toFail('ILLEGAL_LICENSE', illegal('licenseCounter'));
  });

  test('before its start and after its end', async () => {
    await expect(load(signed({ notBefore: new Date(Date.now() + 60_000) }))).toFail(
      'ILLEGAL_LICENSE',
      illegal('licenseEarly'),
    );
    await expect(load(signed({ notAfter: new Date(Date.now() - 1) }))).toFail('LICENSE_EXPIRED');
  });

  test('after its end, although the clock was set back', async () => {
    const short = signed({ notAfter: new Date(Date.now() + DAY_MS) });
    await load(short);
    await noteLicenseTime(installation, new Date(Date.now() + 2 * DAY_MS));
    // An earlier time does not undo it.
    await noteLicenseTime(installation, new Date());
    await expect(load(short)).toFail('LICENSE_EXPIRED');
    expect(await call(installationLicense.get)).toMatchObject({ isExpired: true });
    await load(signed({ notAfter: null }));
    expect(await call(installationLicense.get)).toMatchObject({ isExpired: false });
  });
});

test('a command makes the keys, and signs a file without a database', async () => {
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
  await expect(run('license:key', '--out', keys)).rejects.toThrow('EEXIST');
  const terms = ['--machine', machineCode, '--name', 'Offline', '--sites', '7', '--ends', '2100-01-01'];
  const { stdout } = await run('license:sign', '--key', keyFile, ...terms);
  expect((await load(stdout.trimEnd())).license).toMatchObject({
    name: 'Offline',
    siteLimit: 7,
    layer4: false,
    notAfter: '2100-01-01T00:00:00.000Z',
  });
});
