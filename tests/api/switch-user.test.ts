// Switching to another account: permissions, restrictions during the session, and its end.
import { afterAll, describe, expect, test, vi } from 'vitest';
import {
  apiTokens,
  login2fa,
  oidcSetting,
  ownSessions,
  passkeys,
  proxy,
  session,
} from '@edgeloom/contract/auth/auth.endpoints.ts';
import { permissionsOf, type Permission } from '@edgeloom/contract/permissions.ts';
import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import { ownSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { accessToken, type SignedInAccount } from '../support/builders/api-clients.ts';
import { testApp } from '../support/services/app.ts';
import type { Tenant } from '../support/builders/build.ts';
import { passwordAccounts, passwordHash } from '../support/builders/password-accounts.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startApp } from '../support/services/running-app.ts';
import { services } from '../support/services/shared-services.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { as, build, installation } = app;
const { db, env } = installation;
const second = await startApp(services(), env.DATABASE_URL);
afterAll(() => Promise.all([app.close(), second.close()]));

const act = (who: SignedInAccount, { id }: { id: string }) => as(who).call(proxy.start, { body: { accountID: id } });
const land = (kind: SignedInAccount['kind'], code: string) =>
  as({ kind, token: null }).call(proxy.switchUser, { body: { code } });
const refresh = (kind: SignedInAccount['kind'], refreshToken: string) =>
  as({ kind, token: null }).call(session.refresh, { body: { refreshToken } });

/** An operator's session as one of its customers. */
async function acting() {
  const tenant = await build.client();
  const user = await build.user(tenant);
  const proxied = await act(tenant.client, user);
  const call = as({ kind: 'user', token: proxied.accessToken }).call;
  const there = second.as({ kind: 'user', token: proxied.accessToken }).call;
  return { tenant, user, proxied, call, there };
}
const manager = (
  tenant: Tenant,
  zonesSeen: { id: string }[] = [],
  permissions: readonly Permission[] = ['account:write'],
) => build.subClient(tenant, zonesSeen, { permissions: [...permissions] });
const managerOfCustomers = (tenant: Tenant, zonesSeen: { id: string }[] = []) =>
  manager(tenant, zonesSeen, permissionsOf('user'));

describe('switching is allowed', () => {
  test('from an operator to its customers, their sub-accounts and its own', async () => {
    const tenant = await build.client();
    const user = await build.user(tenant);
    for (const other of [user, await build.subUser(user, []), await manager(tenant)]) {
      const { accessToken: token } = await act(tenant.client, other);
      const self = await as({ kind: other.kind, token }).call(session.self);
      expect(self).toMatchObject({ id: other.id, proxy: { email: tenant.client.email, home: '/client' } });
    }
  });

  test('from an admin to operators, at the public listener', async () => {
    const { client } = await build.client();
    const { url, code } = await act(await build.admin(), client);
    expect(url).toBe(`${env.PUBLIC_URL.replace(/\/$/, '')}/client/switchUser?code=${code}`);
    const { accessToken: token } = await land('client', code);
    expect((await as({ kind: 'client', token }).call(session.self)).proxy?.home).toBe(
      `${env.ADMIN_URL.replace(/\/$/, '')}/admin`,
    );
  });

  test('from a customer to its sub-accounts, with their sites', async () => {
    const site = await build.site();
    const sub = await build.subUser(site.owner, [site], { permissions: ['site:read'] });
    const { accessToken: token } = await act(site.owner, sub);
    const { data } = await as({ kind: 'user', token }).call(ownSites.list);
    expect(data.map(({ id }) => id)).toEqual([site.id]);
  });

  test('not to oneself, to accounts above, of another tenant or beyond the next console', async () => {
    const [tenant, other] = [await build.client(), await build.client()];
    const user = await build.user(tenant);
    const admin = await build.admin();
    const sub = await manager(tenant);
    const subUser = await build.subUser(user, [], { permissions: ['account:write'] });
    for (const [who, whom] of [
      [tenant.client, tenant.client],
      [tenant.client, other.client],
      [tenant.client, await build.user(other)],
      [tenant.client, admin],
      [sub, tenant.client],
      [subUser, user],
      [user, tenant.client],
      [user, await build.user(tenant)],
      [admin, user],
      [admin, await build.admin()],
    ] as const)
      await expect(act(who, whom)).toFail('NOT_FOUND');
  });

  test('not without permission to manage accounts', async () => {
    const tenant = await build.client();
    const sub = await manager(tenant, [], ['account:read']);
    await expect(act(sub, await build.user(tenant))).toFail('PERMISSION_DENIED');
  });

  test('not to a suspended account, or one with a suspended root account', async () => {
    const tenant = await build.client();
    const user = await build.user(tenant);
    const sub = await build.subUser(user, []);
    await db.account.update({ where: { id: user.id }, data: { status: 'pause' } });
    for (const one of [user, sub]) await expect(act(tenant.client, one)).toFail('ACCOUNT_NOT_ENABLED');
  });

  test('from a sub-account only to accounts with at most its permissions and objects', async () => {
    const tenant = await build.client();
    const [seen, unseen] = [await build.zone({ tenant }), await build.zone({ tenant })];
    const here = await build.site({ product: await build.product({ zone: seen }) });
    const beyond = await build.site({ product: await build.product({ zone: unseen }) });
    const who = await managerOfCustomers(tenant, [seen]);
    expect(await act(who, here.owner)).toHaveProperty('accessToken');
    await expect(act(who, beyond.owner)).toFail('PERMISSION_DENIED');
    await expect(act(await manager(tenant, [seen]), here.owner)).toFail('PERMISSION_DENIED');
    await expect(act(who, await manager(tenant, [seen], ['zone:write']))).toFail('PERMISSION_DENIED');
    await expect(act(who, await manager(tenant, [unseen]))).toFail('PERMISSION_DENIED');
    expect(await act(who, await manager(tenant, [seen]))).toHaveProperty('accessToken');
  });
});

describe('the code', () => {
  test('opens the session once, and invalidates the accompanying tokens', async () => {
    const { proxied, user } = await acting();
    const tokens = await land('user', proxied.code);
    expect(await as({ kind: 'user', token: tokens.accessToken }).call(session.self)).toHaveProperty('id', user.id);
    await expect(land('user', proxied.code)).toFail('INVALID_TOKEN');
    await expect(refresh('user', proxied.refreshToken)).toFail('REFRESH_FAILED');
  });

  test('is invalid once the tokens were used', async () => {
    const { proxied } = await acting();
    await refresh('user', proxied.refreshToken);
    await expect(land('user', proxied.code)).toFail('INVALID_TOKEN');
  });

  test('works once under concurrency', async () => {
    const { proxied } = await acting();
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => land('user', proxied.code)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('is valid for a minute, at its console, unmodified', async () => {
    const { proxied } = await acting();
    await expect(land('client', proxied.code)).toFail('INVALID_TOKEN');
    const [id = '', ends = '', mark = ''] = proxied.code.split('.');
    for (const code of [`${id}.${Number(ends) + 60}.${mark}`, `${id}.${ends}.`, `${id}.${ends}`, id, '..', 'x'])
      await expect(land('user', code)).toFail('INVALID_TOKEN');
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    await expect(land('user', proxied.code).finally(() => vi.useRealTimers())).toFail('INVALID_TOKEN');
  });

  test('is not stored in plain text', async () => {
    const { proxied, user } = await acting();
    const rows = await db.session.findMany({ where: { accountId: user.id } });
    expect(JSON.stringify(rows)).not.toContain(proxied.code.split('.')[2]);
    expect(JSON.stringify(rows)).not.toContain(proxied.refreshToken);
  });
});

describe('a switched session', () => {
  test('cannot use owner-only calls', async () => {
    const { tenant, call } = await acting();
    const other = await build.subClient(tenant, []);
    await expect(call(session.changePassword, { body: { oldPassword: 'x', password: 'long enough' } })).toFail(
      'PERMISSION_DENIED',
    );
    await expect(call(session.verify, { body: { password: 'x' } })).toFail('PERMISSION_DENIED');
    await expect(call(login2fa.phase0, { body: { password: 'x' } })).toFail('PERMISSION_DENIED');
    await expect(call(login2fa.turnOff, { body: { password: 'x', vcode: '123456' } })).toFail('PERMISSION_DENIED');
    await expect(call(passkeys.list)).toFail('PERMISSION_DENIED');
    await expect(call(ownSessions.list)).toFail('PERMISSION_DENIED');
    await expect(call(apiTokens.create, { body: { name: 'x', permissions: ['site:read'] } })).toFail(
      'PERMISSION_DENIED',
    );
    await expect(call(proxy.start, { body: { accountID: other.id } })).toFail('PERMISSION_DENIED');
    const { accessToken: token } = await act(await build.admin(), tenant.client);
    await expect(as({ kind: 'client', token }).call(oidcSetting.remove)).toFail('PERMISSION_DENIED');
    await expect(as({ kind: 'client', token }).call(proxy.start, { body: { accountID: other.id } })).toFail(
      'PERMISSION_DENIED',
    );
  });

  test('is recorded with both accounts in the audit log', async () => {
    const { tenant, user, call } = await acting();
    await call(roles.create, { body: { name: 'made by help', permissions: ['site:read'] } });
    const where = { accountId: user.id, path: { endsWith: '/user/role' } };
    const row = await eventually(() => db.auditRow.findFirstOrThrow({ where }));
    expect(row).toMatchObject({ proxyId: tenant.client.id, proxyName: tenant.client.email, status: 200 });
  });

  test("is listed among the account's sessions, and may be ended there", async () => {
    const { tenant, user, call } = await acting();
    const { data } = await as(user).call(ownSessions.list);
    const [theirs] = data.filter(({ proxyName }) => proxyName !== null);
    expect(theirs).toMatchObject({ proxyName: tenant.client.email, current: false });
    await as(user).call(ownSessions.end, { body: { ids: [theirs?.id ?? ''] } });
    await eventually(() => expect(call(session.self)).toFail('INVALID_TOKEN'));
  });

  test('ends by signing out, which keeps the own session', async () => {
    const { tenant, call } = await acting();
    await call(session.logout);
    await eventually(() => expect(call(session.self)).toFail('INVALID_TOKEN'));
    expect(await as(tenant.client).call(session.self)).toHaveProperty('id', tenant.client.id);
  });

  test('ends with the own session, in every process', async () => {
    const { tenant, proxied, call, there } = await acting();
    for (const by of [call, there]) expect(await by(session.self)).toHaveProperty('id');
    await as(tenant.client).call(session.logout);
    for (const by of [call, there]) await eventually(() => expect(by(session.self)).toFail('INVALID_TOKEN'));
    await expect(refresh('user', proxied.refreshToken)).toFail('REFRESH_FAILED');
  });

  test('ends when either account is suspended', async () => {
    for (const whose of ['tenant', 'user'] as const) {
      const { tenant, user, call, there } = await acting();
      for (const by of [call, there]) expect(await by(session.self)).toHaveProperty('id');
      const { id } = whose === 'tenant' ? tenant.client : user;
      await db.account.update({ where: { id }, data: { status: 'pause' } });
      for (const by of [call, there]) await eventually(() => expect(by(session.self)).toFail('ACCOUNT_NOT_ENABLED'));
    }
  });

  test('ends without permission to manage accounts, and never exceeds the own permissions', async () => {
    const tenant = await build.client();
    const zone = await build.zone({ tenant });
    const who = await manager(tenant, [zone], ['account:write', 'zone:read']);
    const other = await manager(tenant, [zone], ['zone:read']);
    const { accessToken: token, refreshToken } = await act(who, other);
    const call = as({ kind: 'client', token }).call;
    expect(await call(zones.list)).toHaveProperty('total', 1);
    const roleOf = async ({ id }: SignedInAccount) =>
      (await db.account.findUniqueOrThrow({ where: { id } })).roleId ?? '';
    // The target account gets more permissions than the acting account.
    await db.role.update({ where: { id: await roleOf(other) }, data: { permissions: ['zone:read', 'zone:write'] } });
    await expect(eventually(async () => (await call(session.self)).permissions)).resolves.toEqual(['zone:read']);
    await db.role.update({ where: { id: await roleOf(who) }, data: { permissions: ['zone:read'] } });
    await eventually(() => expect(call(session.self)).toFail('INVALID_TOKEN'));
    await expect(refresh('client', refreshToken)).toFail('REFRESH_FAILED');
  });

  test('ends after eight hours', async () => {
    const { proxied, user } = await acting();
    const { endsAt } = await db.session.findFirstOrThrow({ where: { accountId: user.id, proxyId: { not: null } } });
    const own = await db.session.findFirstOrThrow({ where: { actingSessions: { some: { accountId: user.id } } } });
    expect(endsAt).toEqual(own.endsAt);
    await refresh('user', proxied.refreshToken);
    await db.session.update({ where: { id: own.id }, data: { endsAt: new Date(Date.now() + 86_400_000) } });
    const client = await db.account.findUniqueOrThrow({ where: { id: own.accountId } });
    await act({ ...client, sessionId: own.id, token: accessToken(installation, claimsOf(client, own.id)) }, user);
    const newest = await db.session.findFirstOrThrow({ where: { accountId: user.id }, orderBy: { createdAt: 'desc' } });
    expect(newest.endsAt.getTime()).toBeLessThanOrEqual(Date.now() + 8 * 3_600_000);
    expect(newest.endsAt.getTime()).toBeGreaterThan(own.endsAt.getTime());
  });
});

interface Person {
  id: string;
  kind: SignedInAccount['kind'];
  clientId: string | null;
}
const claimsOf = ({ id, kind, clientId }: Person, sessionId: string, actor = id) => ({
  sub: id,
  kind,
  client: clientId,
  session: sessionId,
  actor,
});

describe('an access token', () => {
  test('names the acting account, and is rejected for another one', async () => {
    const { tenant, user, call } = await acting();
    expect(await call(session.self)).toHaveProperty('proxy.email', tenant.client.email);
    const { id } = await db.session.findFirstOrThrow({ where: { accountId: user.id, proxyId: tenant.client.id } });
    const by = (claims: object) =>
      as({ kind: 'user', token: accessToken(installation, { ...claims }) }).call(session.self);
    expect(await by(claimsOf(user, id, tenant.client.id))).toHaveProperty('id', user.id);
    await expect(by(claimsOf(user, id))).toFail('INVALID_TOKEN');
    await expect(by(claimsOf(user, user.sessionId, tenant.client.id))).toFail('INVALID_TOKEN');
    await expect(by(claimsOf(user, id, (await build.admin()).id))).toFail('INVALID_TOKEN');
    await expect(by(claimsOf(tenant.client, id, tenant.client.id))).toFail('INVALID_TOKEN');
  });

  test('is not a code, and codes, refresh tokens and proofs are not access tokens', async () => {
    const { proxied } = await acting();
    for (const token of [proxied.code, proxied.refreshToken])
      await expect(as({ kind: 'user', token }).call(session.self)).toFail('INVALID_TOKEN');
    for (const code of [proxied.accessToken, proxied.refreshToken])
      await expect(land('user', code.slice(0, 200))).toFail('INVALID_TOKEN');
    await expect(refresh('user', proxied.code)).toFail('REFRESH_FAILED');
  });

  test('of a switched session is refreshed as such', async () => {
    const { tenant, proxied } = await acting();
    const { accessToken: token } = await refresh('user', proxied.refreshToken);
    expect((await as({ kind: 'user', token }).call(session.self)).proxy).toHaveProperty('email', tenant.client.email);
    await expect(refresh('client', proxied.refreshToken)).toFail('REFRESH_FAILED');
  });
});

describe('in a browser switched within its own console', () => {
  const post = (path: string, cookie: string, body: object, method = 'POST', token = '') =>
    fetch(`${app.url}/api/v1/client${path}`, {
      method,
      headers: { 'content-type': 'application/json', cookie, ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
  /** The operator's session after a sign-in, with its refresh token. */
  async function signedIn({ client }: Tenant) {
    await db.account.update({ where: { id: client.id }, data: { passwordHash, login2faType: 2 } });
    const { accessToken: token, refreshToken } = await passwordAccounts(app).signIn(client);
    return { operator: { ...client, token }, refreshToken };
  }
  const cookiesOf = (answer: Response) =>
    new Map(
      answer.headers.getSetCookie().map((line) => [line.split('=')[0] ?? '', line.split(';')[0]?.split('=')[1] ?? '']),
    );

  test('the own session is kept, and restored after signing out', async () => {
    const tenant = await build.client();
    const sub = await manager(tenant);
    const { operator, refreshToken: own } = await signedIn(tenant);
    const { code } = await act(operator, sub);
    const landed = cookiesOf(await post('/switchUser', `c_refreshToken=${own}`, { code }));
    expect(landed.get('c_ownRefreshToken')).toBe(own);
    const [token = '', refreshToken = ''] = ['c_accessToken', 'c_refreshToken'].map((name) => landed.get(name));
    const left = cookiesOf(
      await post('', `c_refreshToken=${refreshToken}; c_ownRefreshToken=${own}`, {}, 'DELETE', token),
    );
    expect(Object.fromEntries(left)).toMatchObject({ c_refreshToken: own, c_ownRefreshToken: '', c_accessToken: '' });
    expect(await refresh('client', own)).toHaveProperty('accessToken');
  });

  test('a kept session is returned to its owner only', async () => {
    const tenant = await build.client();
    const victim = await build.client();
    const { refreshToken: theirs } = await signedIn(victim);
    const { code } = await act(tenant.client, await manager(tenant));
    const landed = cookiesOf(await post('/switchUser', `c_refreshToken=${theirs}`, { code }));
    expect(landed.has('c_ownRefreshToken')).toBe(false);
    const token = landed.get('c_accessToken') ?? '';
    const left = cookiesOf(await post('', `c_ownRefreshToken=${theirs}`, {}, 'DELETE', token));
    expect(left.get('c_refreshToken')).toBe('');
  });
});
