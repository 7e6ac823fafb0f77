// Settings of an operator and their effects.
import { afterAll, describe, expect, test } from 'vitest';
import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { login2fa, passkeys, session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { branding } from '@edgeloom/contract/branding/branding.endpoints.ts';
import { domains, domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { ports } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { systemSetting } from '@edgeloom/contract/system-setting/system-setting.endpoints.ts';
import { unique } from '../support/builders/build.ts';
import { compileBody } from '../support/builders/compiled-documents.ts';
import { password, passwordAccounts } from '../support/builders/password-accounts.ts';
import { secretIn, totpCode } from '../support/fakes/authenticator-app.ts';
import { testApp } from '../support/services/app.ts';
import { codeIn, mailTo } from '../support/assertions/mailbox.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import '../support/assertions/matchers.ts';

const app = await testApp({ ORIGIN_ALLOW: '10.0.0.0/8', PUBLIC_URL: 'https://cdn.example.net' });
const { as, build, installation, mailDir } = app;
const { anyone, createAccount, signIn } = passwordAccounts(app);
afterAll(() => app.close());

const addPasskey = ({ id }: { id: string }) =>
  installation.db.passkey.create({
    data: {
      accountId: id,
      name: 'key',
      credentialId: unique('key'),
      publicKey: new Uint8Array(1),
      counter: 0,
      backedUp: false,
    },
  });
const brand = (client: Parameters<typeof as>[0], host: string) =>
  as(client).call(branding.create, { body: { host, title: 'Ours' } });

test('settings have defaults, are changed one by one, and belong to one operator', async () => {
  const [tenant, other] = [await build.client(), await build.client()];
  const { call } = as(tenant.client);
  const defaults = {
    outgoingURL: { outgoingURL: null },
    accountVerify: { accountVerify: false },
    restrictGroupCIDRs: { cidrs: [] },
    nameProof: { everyName: false },
    // The installation has several operators.
    DBBackup: null,
  };
  expect(await call(systemSetting.all)).toEqual(defaults);
  const host = `${unique('console')}.example.com`;
  await brand(tenant.client, host);
  await addPasskey(tenant.client);
  const outgoingURL = `https://${host}`;
  expect(await call(systemSetting.setOutgoingURL, { body: { outgoingURL } })).toEqual({ outgoingURL });
  expect(await call(systemSetting.setAccountVerify, { body: { accountVerify: true } })).toEqual({
    accountVerify: true,
  });
  const cidrs = ['198.51.100.7/32', '2001:db8:1::/48'];
  const body = { cidrs: ['198.51.100.7', '2001:db8:1::/48'] };
  expect(await call(systemSetting.setRestrictGroupCIDRs, { body })).toEqual({ cidrs });
  expect(await call(systemSetting.all)).toEqual({
    ...defaults,
    outgoingURL: await call(systemSetting.outgoingURL),
    accountVerify: await call(systemSetting.accountVerify),
    restrictGroupCIDRs: await call(systemSetting.restrictGroupCIDRs),
  });
  expect(await call(systemSetting.outgoingURL)).toEqual({ outgoingURL });
  expect(await call(systemSetting.accountVerify)).toEqual({ accountVerify: true });
  expect(await call(systemSetting.restrictGroupCIDRs)).toEqual({ cidrs });
  expect(await as(other.client).call(systemSetting.all)).toEqual(defaults);
});

test('a sub-account does not change what protects the sign-in of the root account', async () => {
  const tenant = await build.client();
  const sub = await build.subClient(tenant, [], { permissions: ['setting:read', 'setting:write'] });
  const { call } = as(sub);
  const outgoingURL = 'https://phishing.example.com';
  await expect(call(systemSetting.setOutgoingURL, { body: { outgoingURL } })).toFail('PERMISSION_DENIED');
  await expect(call(systemSetting.setAccountVerify, { body: { accountVerify: false } })).toFail('PERMISSION_DENIED');
  await call(systemSetting.setRestrictGroupCIDRs, { body: { cidrs: ['198.51.100.0/24'] } });
  expect(await call(systemSetting.all)).toMatchObject({ outgoingURL: { outgoingURL: null } });
});

test.each([
  'ftp://a.example.com',
  'https://a.example.com/path',
  'https://a.example.com?x',
  'https://u@a.example.com',
  '',
])('"%s" is no address of a console', async (outgoingURL) => {
  const { client } = await build.client();
  await expect(as(client).call(systemSetting.setOutgoingURL, { body: { outgoingURL } })).toFail('PARAMETER');
});

// Regression: links with tokens led to any host, also in clear text.
test('the address is that of the installation or of a branding of the operator, over TLS', async () => {
  const [{ client }, other] = [await build.client(), await build.client()];
  const [own, foreign] = [`${unique('own')}.example.com`, `${unique('foreign')}.example.com`];
  await brand(client, own);
  await brand(other.client, foreign);
  const set = (outgoingURL: string) => as(client).call(systemSetting.setOutgoingURL, { body: { outgoingURL } });
  const refused = (rule: string) => ({ errorData: [expect.objectContaining({ path: 'outgoingURL', rule })] });
  for (const host of [foreign, 'nobody.example.com', '127.0.0.1'])
    await expect(set(`https://${host}`)).toFail('PARAMETER', refused('forbidden'));
  await expect(set(`http://${own}`)).toFail('PARAMETER', refused('policy'));
  for (const url of [`https://${own}:8443`, 'https://cdn.example.net/'])
    expect(await set(url)).toEqual({ outgoingURL: url });
});

test("mails to the operator's accounts contain its address", async () => {
  const { client } = await build.client();
  const host = `${unique('console')}.example.com`;
  await brand(client, host);
  const invite = async () => {
    const email = `${unique('someone')}@example.com`;
    await as(client).call(accounts.create, { body: { email, name: 'Someone', auth: 'user', language: 'en' } });
    return (await mailTo(mailDir, email)).text;
  };
  expect(await invite()).toContain(`${installation.env.PUBLIC_URL}/user/verifyMail?token=`);
  await as(client).call(systemSetting.setOutgoingURL, { body: { outgoingURL: `https://${host}/` } });
  expect(await invite()).toContain(`https://${host}/user/verifyMail?token=`);
});

// Regression: without a mail server, no account could sign in, and none could turn the setting off.
test('a root account that cannot sign in without mails does not require a second factor', async () => {
  const { client } = await build.client();
  const { call } = as(client);
  const set = (accountVerify: boolean) => call(systemSetting.setAccountVerify, { body: { accountVerify } });
  await expect(set(true)).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'accountVerify', rule: 'required' })],
  });
  expect(await set(false)).toEqual({ accountVerify: false });
  await addPasskey(client);
  expect(await set(true)).toEqual({ accountVerify: true });
});

// Regression: the root account removed its last factor later, and needed a mailed code to turn the setting off.
test('a root account keeps a second factor of its own while it requires one', async () => {
  const someone = await createAccount({ login2faType: 2 });
  const call = app.as({ kind: 'client', token: (await signIn(someone)).accessToken }).call;
  const passkey = await addPasskey(someone);
  await call(systemSetting.setAccountVerify, { body: { accountVerify: true } });
  const { verifyToken } = await call(session.verify, { body: { password } });
  const removePasskey = () => call(passkeys.remove, { body: { ids: [passkey.id], verifyToken } });
  const refused = { errorData: [expect.objectContaining({ path: 'accountVerify', rule: 'required' })] };
  await expect(removePasskey()).toFail('PARAMETER', refused);

  const { onePassKey } = await call(login2fa.phase0, { body: { password } });
  const { qrCodeData } = await call(login2fa.phase1, { body: { onePassKey } });
  const vcode = totpCode(secretIn(qrCodeData));
  const { recoveryCodes } = await call(login2fa.phase2, { body: { onePassKey, vcode } });
  await removePasskey();
  const turnOff = (code = '') => call(login2fa.turnOff, { body: { password, vcode: code } });
  await expect(turnOff(recoveryCodes[0])).toFail('PARAMETER', refused);
  await call(systemSetting.setAccountVerify, { body: { accountVerify: false } });
  await turnOff(recoveryCodes[1]);
});

test('an account without a second step gets a code by mail if its operator requires one', async () => {
  const someone = await createAccount({ login2faType: 2 });
  const { accessToken } = await signIn(someone);
  await addPasskey(someone);
  const call = app.as({ kind: 'client', token: accessToken }).call;
  await call(systemSetting.setAccountVerify, { body: { accountVerify: true } });
  expect(await call(login2fa.state)).toMatchObject({ login2FAType: 0 });
  const { email } = someone;
  const { onePassKey, login2FAType, vcode } = await anyone()(session.login, { body: { email, password } });
  expect([login2FAType, vcode]).toEqual([0, undefined]);
  const mailed = codeIn(await mailTo(mailDir, email));
  expect(await anyone()(session.code, { body: { email, onePassKey, vcode: mailed } })).toHaveProperty('accessToken');
});

describe('restricted networks', () => {
  const restrict = (tenant: { client: Parameters<typeof as>[0] }, ...cidrs: string[]) =>
    as(tenant.client).call(systemSetting.setRestrictGroupCIDRs, { body: { cidrs } });
  const origin = (address: string) => ({ address, port: 80 });
  const refused = (path: string) => ({ errorData: [expect.objectContaining({ path, rule: 'forbidden' })] });

  test('refuse origins of domains and forwards, of this operator only', async () => {
    const [site, other] = [await build.site(), await build.site()];
    const domain = await build.domain({ site });
    await restrict(site, '10.2.0.0/16');
    const { call } = as(site.owner);
    const { params } = site;
    const body = { domains: [{ name: `${unique('w')}.example.com`, upstreams: [origin('10.2.0.7')] }] };
    await expect(call(domains.create, { params, body })).toFail('PARAMETER', refused('domains.0.upstreams.0.address'));
    const added = { upstreams: [origin('10.2.0.7')] };
    const inDomain = { ...params, domainId: domain.id };
    await expect(call(domainUpstreams.create, { params: inDomain, body: added })).toFail('PARAMETER');
    await call(domainUpstreams.create, { params: inDomain, body: { upstreams: [origin('10.3.0.7')] } });
    const forward = { port: 7000, protocol: 'tcp' as const, upstreams: [origin('10.2.0.7')] };
    await expect(call(ports.create, { params, body: { ports: [forward] } })).toFail(
      'PARAMETER',
      refused('ports.0.upstreams.0.address'),
    );
    const probed = { address: '10.2.0.7', port: 80 };
    await expect(call(domains.probe, { params, body: probed })).toFail('PARAMETER', refused('address'));
    await as(other.owner).call(domains.create, { params: other.params, body });
  });

  test('are set by accounts that see all zones', async () => {
    const zone = await build.zone();
    const sub = await build.subClient(zone, [zone], { permissions: ['setting:read', 'setting:write'] });
    await restrict({ client: sub }, '198.51.100.0/24');
    await build.zone({ tenant: zone });
    await expect(restrict({ client: sub })).toFail('PERMISSION_DENIED');
  });

  test('are in the documents of all zones, where no exception of the installation lifts them', async () => {
    const [zone, other] = [await build.zone(), await build.zone()];
    const second = await build.zone({ tenant: zone });
    const docOf = async ({ id }: { id: string }) =>
      ZoneDoc.parse(JSON.parse(await compileBody(installation, id, 'zone')));
    const policyOf = async (of: { id: string }) => (await docOf(of)).originPolicy;
    const before = await policyOf(zone);
    const cidrs = ['10.2.0.0/16', '198.51.100.0/24'];
    await restrict(zone, ...cidrs);
    const { originPolicy, needs } = await docOf(zone);
    expect(originPolicy).toEqual({ deny: [...before.deny, ...cidrs].sort(), allow: ['10.0.0.0/8'], restricted: cidrs });
    // Earlier agents know the exceptions only.
    expect(needs).toEqual(['restrictedNetworks']);
    expect(await policyOf(second)).toEqual(await policyOf(zone));
    expect(await policyOf(other)).toEqual(before);
    await restrict(zone, ...cidrs);
    await restrict(zone);
    expect(await policyOf(zone)).toEqual(before);
    for (const { id } of [zone, second]) expect(await outboxKeys(installation, id)).toEqual(['zone', 'zone']);
    expect(await outboxKeys(installation, other.id)).toEqual([]);
  });

  test.each(['0.0.0.0/0', '::/0', '10.0.0.0/4', 'a.example.com', '::ffff:10.2.0.0/112', '64:ff9b::c633:6407'])(
    'cannot be %s',
    async (cidr) => {
      const { client } = await build.client();
      const path = 'cidrs.0';
      await expect(restrict({ client }, cidr)).toFail('PARAMETER', { errorData: [expect.objectContaining({ path })] });
    },
  );
});
