import { createServer } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { oidc, oidcSetting, session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { unique, type Tenant } from '../support/builders/build.ts';
import { startOidcProvider, visitProvider, type OidcUser } from '../support/fakes/oidc-provider.ts';
import { passwordAccounts } from '../support/builders/password-accounts.ts';
import '../support/assertions/matchers.ts';

const console_ = 'https://console.example.com';
const app = await testApp({ PUBLIC_URL: console_, ORIGIN_ALLOW: '127.0.0.0/8' });
const { db } = app.installation;
const { anyone, as, createAccount } = passwordAccounts(app);
const provider = await startOidcProvider(['user', 'client'].map((kind) => `${console_}/${kind}/login/oidc`));
afterAll(async () => {
  await provider.stop();
  await app.close();
});

const setting = (more: object = {}) => ({
  enabled: true,
  issuer: provider.issuer,
  oidcClientId: provider.clientId,
  secret: provider.secret,
  buttonText: 'Sign in with Example',
  ...more,
});
async function tenantWithProvider(): Promise<Tenant> {
  const tenant = await app.build.client();
  await app.as(tenant.client).call(oidcSetting.update, { body: setting() });
  return tenant;
}
/** Follows the sign-in through the provider to the final URL. */
async function followSignIn({ clientId }: Pick<Tenant, 'clientId'>, who: OidcUser) {
  const { url, onePassKey } = await anyone()(oidc.start, { body: { client: clientId } });
  provider.setUser(who);
  const { search } = await visitProvider(url);
  return { onePassKey, search };
}
const finish = (body: { onePassKey: string; search: string }) => anyone()(oidc.finish, { body });

describe('signing in at the client’s OIDC provider', () => {
  test('opens the account with the verified e-mail address, with PKCE, state and nonce', async () => {
    const tenant = await tenantWithProvider();
    const { email } = await createAccount({ clientId: tenant.clientId });
    expect(await anyone()(oidc.button, { query: { client: tenant.clientId } })).toEqual({
      buttonText: 'Sign in with Example',
    });
    const { url } = await anyone()(oidc.start, { body: { client: tenant.clientId } });
    const asked = new URL(url).searchParams;
    expect(asked.get('code_challenge_method')).toBe('S256');
    for (const name of ['code_challenge', 'state', 'nonce']) expect(asked.get(name)?.length).toBeGreaterThan(30);
    const { accessToken } = await finish(await followSignIn(tenant, { email }));
    expect(await as(accessToken)(session.self)).toMatchObject({ email });
  });

  test('fails for an unverified address, without an account, or for another client’s account', async () => {
    const tenant = await tenantWithProvider();
    const { email } = await createAccount({ clientId: tenant.clientId });
    const stranger = await createAccount();
    for (const who of [
      { email, verified: false },
      { email: `${unique('nobody')}@example.com` },
      { email: stranger.email },
    ])
      await expect(finish(await followSignIn(tenant, who))).toFail('CREDENTIAL_REFUSED');
  });

  test('accepts a response once, in the browser that started, with the right state', async () => {
    const tenant = await tenantWithProvider();
    const { email } = await createAccount({ clientId: tenant.clientId });
    const stolen = await followSignIn(tenant, { email });
    const own = await anyone()(oidc.start, { body: { client: tenant.clientId } });
    await expect(finish({ ...stolen, onePassKey: own.onePassKey })).toFail('CREDENTIAL_REFUSED');
    // The failed attempt has consumed the state.
    await expect(finish(stolen)).toFail('CREDENTIAL_REFUSED');
    const good = await followSignIn(tenant, { email });
    const forged = new URLSearchParams(good.search);
    forged.set('state', 'another');
    await expect(finish({ ...good, search: `?${forged}` })).toFail('CREDENTIAL_REFUSED');
    await finish(good);
    await expect(finish(good)).toFail('CREDENTIAL_REFUSED');
  });

  test('rejects a code of another sign-in', async () => {
    const tenant = await tenantWithProvider();
    const { email } = await createAccount({ clientId: tenant.clientId });
    const [one, other] = [await followSignIn(tenant, { email }), await followSignIn(tenant, { email })];
    const mixed = new URLSearchParams(one.search);
    mixed.set('code', new URLSearchParams(other.search).get('code') ?? '');
    await expect(finish({ ...one, search: `?${mixed}` })).toFail('CREDENTIAL_REFUSED');
  });

  test('rejects a suspended account', async () => {
    const tenant = await tenantWithProvider();
    const { id, email } = await createAccount({ clientId: tenant.clientId });
    await db.account.update({ where: { id }, data: { status: 'lock' } });
    await expect(finish(await followSignIn(tenant, { email }))).toFail('ACCOUNT_NOT_ENABLED');
  });

  test('is offered at the client’s host name, and not when disabled', async () => {
    const { client, clientId } = await app.build.client();
    const { call } = app.as(client);
    const shown = (named?: string) => anyone()(oidc.button, { query: named === undefined ? {} : { client: named } });
    await call(oidcSetting.update, { body: setting({ buttonText: 'Ours' }) });
    expect(await shown()).toEqual({ buttonText: null });
    const { id } = await db.branding.create({ data: { clientId, host: '127.0.0.1' } });
    expect(await shown()).toEqual({ buttonText: 'Ours' });
    // The link of another operator does not show its button.
    expect(await shown((await tenantWithProvider()).clientId)).toEqual({ buttonText: 'Ours' });
    const { url } = await anyone()(oidc.start, { body: {} });
    expect(new URL(new URL(url).searchParams.get('redirect_uri') ?? '').hostname).toBe('127.0.0.1');
    const { redirectURIs } = (await call(oidcSetting.get)) ?? { redirectURIs: [] };
    expect(redirectURIs.map((uri) => new URL(uri).hostname)).toContain('127.0.0.1');
    await call(oidcSetting.update, { body: setting({ enabled: false }) });
    expect(await shown()).toEqual({ buttonText: null });
    await expect(anyone()(oidc.start, { body: {} })).toFail('NOT_FOUND');
    await db.branding.delete({ where: { id } });
    await call(oidcSetting.remove);
    expect(await call(oidcSetting.get)).toBeNull();
  });
});

describe('the setting', () => {
  test('stores its secret encrypted and never returns it', async () => {
    const { client, clientId } = await tenantWithProvider();
    const row = await db.oidcProvider.findUniqueOrThrow({ where: { clientId } });
    expect(row.secretSealed).toMatch(/^s1\./);
    const { call } = app.as(client);
    expect(JSON.stringify(await call(oidcSetting.get))).not.toContain(provider.secret);
    const { secret, ...rest } = setting({ buttonText: 'Another' });
    expect(secret).toBe(provider.secret);
    expect(await call(oidcSetting.update, { body: rest })).toMatchObject({ buttonText: 'Another' });
    expect((await db.oidcProvider.findUniqueOrThrow({ where: { clientId } })).secretSealed).toBe(row.secretSealed);
  });

  test('does not send a stored secret to another provider', async () => {
    const { client } = await tenantWithProvider();
    const { secret, ...rest } = setting({ issuer: `${provider.issuer}/other` });
    expect(secret).toBe(provider.secret);
    await expect(app.as(client).call(oidcSetting.update, { body: rest })).toFail('PARAMETER');
  });

  test('is reserved for the root account', async () => {
    const tenant = await tenantWithProvider();
    const sub = await app.build.subClient(tenant, [], { permissions: ['setting:read', 'setting:write'] });
    await expect(app.as(sub).call(oidcSetting.get)).toFail('PERMISSION_DENIED');
    await expect(app.as(sub).call(oidcSetting.update, { body: setting() })).toFail('PERMISSION_DENIED');
    await expect(app.as(sub).call(oidcSetting.remove)).toFail('PERMISSION_DENIED');
  });

  test('requires HTTPS, except for addresses that the installation allows', async () => {
    const { client } = await app.build.client();
    await expect(app.as(client).call(oidcSetting.update, { body: setting({ issuer: 'http://192.0.2.1/' }) })).toFail(
      'PARAMETER',
      { errorData: [expect.objectContaining({ path: 'issuer' })] },
    );
  });

  test('reports a provider that does not respond, directly or behind its gateway', async () => {
    const { client } = await app.build.client();
    let status = 500;
    const gateway = createServer((_, response) => void response.writeHead(status).end());
    await new Promise<void>((done) => void gateway.listen(0, '127.0.0.1', done));
    const address = gateway.address();
    const issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    const put = () => app.as(client).call(oidcSetting.update, { body: setting({ issuer }) });
    await expect(put()).toFail('SUPPLIER_FAILED');
    status = 502;
    await expect(put()).toFail('PROXY_CONNECTION_FAILED');
    gateway.close();
  });

  test('cannot reach internal networks, by address or by name', async () => {
    const strict = await testApp({ PUBLIC_URL: console_ });
    try {
      const { client } = await strict.build.client();
      const { port } = new URL(provider.issuer);
      for (const issuer of [provider.issuer, `https://localhost:${port}`, 'http://169.254.169.254/', 'https://[::1]/'])
        await expect(strict.as(client).call(oidcSetting.update, { body: setting({ issuer }) })).toFail('PARAMETER', {
          errorData: [expect.objectContaining({ path: 'issuer' })],
        });
    } finally {
      await strict.close();
    }
  });
});
