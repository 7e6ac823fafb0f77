// Uploaded certificates.
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import type { CertificateUpdate } from '@edgeloom/contract/certificates/certificates.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { afterAll, expect, test } from 'vitest';
import { testApp } from '../support/services/app.ts';
import { createAuthority } from '../support/builders/certificate-authority.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { build, as, installation } = app;
afterAll(() => app.close());
const ca = await createAuthority();

const own = (site: BuiltSite) => as(site.owner);
const upload = async (site: BuiltSite, names: string[], wish: { rsa?: boolean } = {}) =>
  own(site).call(certificates.create, {
    params: site.params,
    body: { source: 'pem', sslName: unique('cert'), ...(await ca.issue(names, wish)) },
  });
const change = (site: BuiltSite, certId: string, body: CertificateUpdate) =>
  own(site).call(certificates.update, { params: { ...site.params, certId }, body });
const look = (site: BuiltSite, certId: string) =>
  own(site).call(certificates.get, { params: { ...site.params, certId } });

test('a PEM pair is parsed, its chain sorted and stripped of the root; its key is never returned', async () => {
  const site = await build.site();
  const { chainPem, keyPem } = await ca.issue(['www.example.com', '*.example.com']);
  const [leaf = '', middle = ''] = chainPem.split(/(?<=-----END CERTIFICATE-----\n)/);
  const made = await own(site).call(certificates.create, {
    params: site.params,
    body: { source: 'pem', sslName: 'shop', chainPem: ca.rootPem + middle + leaf, keyPem },
  });
  expect(made).toMatchObject({
    sslName: 'shop',
    type: 'manual',
    status: 'success',
    names: ['www.example.com', '*.example.com'],
    keyTypes: ['ecdsa'],
    issuer: 'Test Authority Test Intermediate',
    inUse: 0,
  });
  const info = await look(site, made.id);
  expect(info.pairs.map((pair) => pair.chainPem.replaceAll(/\s/g, ''))).toEqual([chainPem.replaceAll(/\s/g, '')]);
  expect(info.timeline).toMatchObject([{ step: 'uploaded', keyType: 'ecdsa' }]);
  expect(JSON.stringify(info)).not.toContain('PRIVATE');
  const { keySealed } = await installation.db.certificatePair.findFirstOrThrow({ where: { certificateId: made.id } });
  expect(keySealed).not.toContain(keyPem.split('\n')[1]);
  const audit = await installation.db.auditRow.findMany({ where: { accountId: site.owner.id } });
  expect(JSON.stringify(audit.map(({ changes }) => changes))).not.toContain(keySealed);
});

test.each([
  ['a file of today', false],
  ['a file as it was written ten years ago', true],
])('PKCS#12, %s, opens with the right password only', async (_, old) => {
  const site = await build.site();
  for (const rsa of [false, true]) {
    const pkcs12 = await ca.pkcs12(await ca.issue(['p12.example.com'], { rsa }), 'open sesame', old);
    const body = { source: 'pkcs12' as const, sslName: unique('cert'), pkcs12 };
    const made = await own(site).call(certificates.create, {
      params: site.params,
      body: { ...body, password: 'open sesame' },
    });
    expect(made).toMatchObject({ names: ['p12.example.com'], keyTypes: [rsa ? 'rsa' : 'ecdsa'] });
    const wrong = own(site).call(certificates.create, { params: site.params, body: { ...body, password: 'sesame' } });
    await expect(wrong).toFail('PARAMETER', { errorData: [expect.objectContaining({ path: 'password' })] });
  }
});

test('unusable pairs are rejected: wrong key, encrypted key, expired, no name, no PEM, weak key', async () => {
  const site = await build.site();
  const one = await ca.issue(['one.example.com']);
  const two = await ca.issue(['two.example.com']);
  const create = (chainPem: string, keyPem: string) =>
    own(site).call(certificates.create, {
      params: site.params,
      body: { source: 'pem', sslName: unique('cert'), chainPem, keyPem },
    });
  await expect(create(one.chainPem, two.keyPem)).toFail('PARAMETER', {
    errorData: [
      expect.objectContaining({ path: 'chainPem', rule: 'otherKey' }),
      expect.objectContaining({ path: 'keyPem', rule: 'mismatch' }),
    ],
  });
  const locked = '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----';
  await expect(create(one.chainPem, locked)).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ rule: 'encrypted' })],
  });
  const ended = await ca.issue(['ended.example.com'], { days: 0 });
  await expect(create(ended.chainPem, ended.keyPem)).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'chainPem', rule: 'expired' })],
  });
  const nameless = await ca.issue(['10.0.0.1']);
  await expect(create(nameless.chainPem, nameless.keyPem)).toFail('INVALID_CERTIFICATE_NAME');
  await expect(create('a certificate, honestly', one.keyPem)).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'chainPem', rule: 'certificatePem' })],
  });
  await expect(create(one.chainPem, 'a key, honestly')).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'keyPem', rule: 'keyPem' })],
  });
  await expect(create('a certificate, honestly', locked)).toFail('PARAMETER', {
    errorData: [
      expect.objectContaining({ path: 'chainPem', rule: 'certificatePem' }),
      expect.objectContaining({ path: 'keyPem', rule: 'encrypted' }),
    ],
  });
  await expect(create(ended.chainPem, locked)).toFail('PARAMETER', {
    errorData: [
      expect.objectContaining({ path: 'chainPem', rule: 'expired' }),
      expect.objectContaining({ path: 'keyPem', rule: 'encrypted' }),
    ],
  });
  const withIssuer = await ca.issue(['aia.example.com'], { issuer: 'http://ca.example.com/intermediate.crt' });
  await expect(create(withIssuer.chainPem.split(/(?<=-----END CERTIFICATE-----)/)[0] ?? '', withIssuer.keyPem)).toFail(
    'PARAMETER',
    { errorData: [expect.objectContaining({ path: 'chainPem', rule: 'chainIncomplete' })] },
  );
});

test('the key of a CSR stays on the server; the signed chain is served', async () => {
  const site = await build.site();
  const made = await own(site).call(certificates.create, {
    params: site.params,
    body: { source: 'csr', sslName: 'requested', names: ['csr.example.com'], keyType: 'rsa' },
  });
  expect(made).toMatchObject({ status: 'none', hasRequest: true, expiry: null });
  const { csrPem } = await look(site, made.id);
  expect(csrPem).toContain('BEGIN CERTIFICATE REQUEST');
  const foreign = await ca.issue(['csr.example.com']);
  await expect(change(site, made.id, { source: 'signed', chainPem: foreign.chainPem, alongside: false })).toFail(
    'PARAMETER',
    {
      errorData: [expect.objectContaining({ path: 'chainPem', rule: 'otherKey' })],
    },
  );
  const chainPem = await ca.sign(csrPem ?? '', ['csr.example.com']);
  const signed = await change(site, made.id, { source: 'signed', chainPem, alongside: false });
  expect(signed).toMatchObject({ status: 'success', hasRequest: false, keyTypes: ['rsa'] });
  await expect(change(site, made.id, { source: 'signed', chainPem, alongside: false })).toFail('PARAMETER');
});

test('RSA and ECDSA are served together on request; otherwise a new pair replaces all', async () => {
  const site = await build.site();
  const { id } = await upload(site, ['both.example.com', 'www.both.example.com']);
  const rsa = await ca.issue(['both.example.com'], { rsa: true });
  expect(await change(site, id, { source: 'pem', ...rsa, alongside: true })).toMatchObject({
    keyTypes: ['ecdsa', 'rsa'],
    names: ['both.example.com'],
  });
  const alone = await ca.issue(['both.example.com'], { rsa: true });
  expect(await change(site, id, { source: 'pem', ...alone, alongside: false })).toMatchObject({ keyTypes: ['rsa'] });
});

test('a certificate is assigned to covered domains only, with a wildcard for one label', async () => {
  const site = await build.site();
  const { id } = await upload(site, ['example.org', '*.example.org']);
  const domain = async (name: string) => (await build.domain({ site, name, enabled: false })).id;
  const [apex, one, two] = [
    await domain('example.org'),
    await domain('a.example.org'),
    await domain('a.b.example.org'),
  ];
  const assign = (domainIDs: string[], assigned = true) =>
    own(site).call(certificates.assign, { params: { ...site.params, certId: id }, body: { domainIDs, assigned } });
  await expect(assign([apex, two])).toFail('INVALID_CERTIFICATE_NAME', {
    errorData: [{ targets: ['a.b.example.org'] }],
  });
  expect(await assign([apex, one])).toMatchObject({ inUse: 2 });
  expect(await installation.db.domain.count({ where: { certificateId: id, certStatus: 'success' } })).toBe(2);

  const narrower = await ca.issue(['example.org']);
  await expect(change(site, id, { source: 'pem', ...narrower, alongside: false })).toFail('INVALID_CERTIFICATE_NAME', {
    errorData: [{ targets: ['a.example.org'] }],
  });
  const remove = () => own(site).call(certificates.remove, { params: site.params, body: { ids: [id] } });
  const targets = [expect.any(String)];
  await expect(remove()).toFail('STILL_IN_USE', { errorData: [{ rule: 'inUse', targets }] });
  expect(await assign([apex, one], false)).toMatchObject({ inUse: 0 });
  expect(await remove()).toEqual({ ids: [id] });
});

test('the domains of a certificate are a list of their own, and its events have pages', async () => {
  const site = await build.site();
  const { db } = installation;
  const { id } = await build.certificate(site, ['*.example.org']);
  const used = await build.domain({ site, name: 'a.example.org' });
  await build.domain({ site, name: 'b.example.org' });
  await db.domain.update({ where: { id: used.id }, data: { certificateId: id } });
  const { call } = own(site);
  expect(await call(domains.list, { params: site.params, query: { certificateID: id } })).toMatchObject({
    total: 1,
    data: [{ name: 'a.example.org' }],
  });
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
  await db.certificateEvent.createMany({
    data: Array.from({ length: 105 }, (_, i) => ({ certificateId: id, at: at(i), step: 'placed', detail: `${i}` })),
  });
  const page = (number: number) =>
    call(certificates.events, { params: { ...site.params, certId: id }, query: { orderBy: 'desc', page: number } });
  expect(await page(1)).toMatchObject({ total: 105, data: { length: 100, 0: { detail: '104' } } });
  expect((await page(2)).data.map(({ detail }) => detail)).toEqual(['4', '3', '2', '1', '0']);
});

test('certificates that cover some of the names are found and counted, the best first', async () => {
  const site = await build.site();
  const names = Array.from({ length: 103 }, (_, i) => `n${i}.example.org`);
  for (const name of names) await build.certificate(site, [name], { name });
  await build.certificate(site, ['*.example.org', 'example.net'], { name: 'zz wildcard' });
  await build.certificate(site, ['other.example.com'], { name: 'other' });
  const find = (wanted: string[]) =>
    own(site).call(certificates.covering, { params: site.params, body: { names: wanted } });
  const found = await find([...names, 'example.net', 'deep.n0.example.org']);
  expect([found.total, found.data.length]).toEqual([104, 100]);
  expect(new Set([...found.data.map(({ id }) => id), ...found.others]).size).toBe(104);
  expect(found.data[0]).toMatchObject({ name: 'zz wildcard', covered: 104 });
  expect(found.data[1]).toMatchObject({ covered: 1 });
  expect(await find(['*.example.org'])).toMatchObject({ total: 1, data: [{ name: 'zz wildcard', covered: 1 }] });
  expect(await find(['deep.n0.example.org'])).toEqual({ data: [], total: 0, others: [] });
});

test("another site's domains cannot be assigned", async () => {
  const site = await build.site();
  const beside = await build.domain({ name: 'there.example.net' });
  const { id } = await upload(site, ['there.example.net']);
  const asked = own(site).call(certificates.assign, {
    params: { ...site.params, certId: id },
    body: { domainIDs: [beside.id] },
  });
  await expect(asked).toFail('NOT_FOUND');
});

test('a list is filtered by name, covered name and state, and sorted by expiry', async () => {
  const site = await build.site();
  const { sslName } = await upload(site, ['first.example.com']);
  await own(site).call(certificates.create, {
    params: site.params,
    body: { source: 'csr', sslName: 'waiting', names: ['second.example.com'], keyType: 'ecdsa' },
  });
  const list = (query: object) => own(site).call(certificates.list, { params: site.params, query });
  expect((await list({ sslName: 'FIRST.example.com' })).data).toMatchObject([{ sslName }]);
  expect((await list({ sslName: 'wait' })).data).toMatchObject([{ sslName: 'waiting' }]);
  expect((await list({ status: ['none'] })).total).toBe(1);
  expect((await list({ sortBy: 'expiry', orderBy: 'desc' })).total).toBe(2);
});
