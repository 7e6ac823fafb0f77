import { createHash } from 'node:crypto';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { apiTokens, ownSessions, proxy, session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';
import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { startApp } from '../support/services/running-app.ts';
import { services } from '../support/services/shared-services.ts';
import '../support/assertions/matchers.ts';

// A trusted proxy lets tests choose the client address.
const app = await testApp({ TRUST_PROXY: '127.0.0.1' });
const { as, build } = app;
const { db, env, pool } = app.installation;
const second = await startApp(services(), env.DATABASE_URL);
afterAll(() => Promise.all([app.close(), second.close()]));

interface TokenOptions {
  permissions?: Permission[];
  cidrs?: string[];
  expiresAt?: string | null;
}
async function tokenOf(
  owner: SignedInAccount,
  { permissions = ['zone:read'], cidrs = [], expiresAt = null }: TokenOptions = {},
) {
  const body = { name: unique('token'), permissions, cidrs, expiresAt };
  const { id, refreshToken } = await as(owner).call(apiTokens.create, { body });
  const by = (where: typeof app) => where.as({ kind: owner.kind, token: refreshToken }).call;
  return { id, token: refreshToken, call: by(app), there: by(second) };
}
const client = async () => (await build.client()).client;
const exchange = (kind: SignedInAccount['kind'], refreshToken: string) =>
  as({ kind, token: null }).call(session.refresh, { body: { refreshToken } });
const from = (address: string, token: string) =>
  fetch(`${app.url}/api/v1/client/zones`, {
    headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': address },
  });

describe('an API token', () => {
  test('is shown once, stored as a hash, and has the given permissions', async () => {
    const owner = await client();
    const { id, token, call } = await tokenOf(owner);
    expect(token).toMatch(/^cdn_[A-Za-z0-9_-]{65}$/);
    const row = await db.apiToken.findUniqueOrThrow({ where: { id } });
    expect(row.tokenHash).toBe(createHash('sha256').update(token).digest('hex'));
    expect(JSON.stringify(row)).not.toContain(token);
    const listed = await as(owner).call(apiTokens.list);
    expect(listed).toMatchObject({ total: 1, data: [{ id, permissions: ['zone:read'], lastUsedAt: null }] });
    expect(JSON.stringify(listed)).not.toMatch(/cdn_|Hash/);
    expect(await call(zones.list)).toEqual({ data: [], total: 0 });
    await expect(call(zones.create, { body: { name: 'x' } })).toFail('PERMISSION_DENIED');
  });

  test('is rejected without a database query when its form is invalid', async () => {
    const owner = await client();
    const { token } = await tokenOf(owner);
    const asked = vi.spyOn(pool, 'query');
    for (const forged of [
      `cdn_${'A'.repeat(65)}`,
      `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
      'cdn_',
      `${token}x`,
    ])
      await expect(as({ kind: 'client', token: forged }).call(zones.list)).toFail('INVALID_TOKEN');
    const texts = asked.mock.calls.map(([query]) => JSON.stringify(query));
    asked.mockRestore();
    expect(texts.filter((text) => text.includes('api_tokens'))).toEqual([]);
  });

  test('has at most the current permissions of its owner', async () => {
    const tenant = await build.client();
    const sub = await build.subClient(tenant, [], { permissions: ['zone:read', 'apiToken:write'] });
    const { call } = await tokenOf(sub);
    expect(await call(zones.list)).toHaveProperty('total', 0);
    const { roleId } = await db.account.findUniqueOrThrow({ where: { id: sub.id } });
    const params = { id: roleId ?? '' };
    await as(tenant.client).call(roles.update, { params, body: { name: 'less', permissions: ['apiToken:write'] } });
    await eventually(() => expect(call(zones.list)).toFail('PERMISSION_DENIED'));
  });

  test('cannot have permissions that its creator lacks', async () => {
    const sub = await build.subClient(await build.client(), [], { permissions: ['apiToken:write'] });
    await expect(tokenOf(sub)).toFail('PERMISSION_DENIED');
    await expect(tokenOf(await build.user(await build.client()))).toFail('PERMISSION_DENIED');
    expect(await db.apiToken.count({ where: { accountId: sub.id } })).toBe(0);
  });

  test('is visible only to its owner', async () => {
    const [one, other] = [await client(), await client()];
    const { id, call } = await tokenOf(one);
    await expect(as(other).call(apiTokens.remove, { body: { ids: [id] } })).toFail('NOT_FOUND');
    expect((await as(other).call(apiTokens.list)).data).toEqual([]);
    expect(await call(zones.list)).toHaveProperty('total');
  });

  test('is rejected at once after revocation, in every process', async () => {
    const owner = await client();
    const { id, call, there } = await tokenOf(owner);
    for (const by of [call, there]) expect(await by(zones.list)).toHaveProperty('total');
    await as(owner).call(apiTokens.remove, { body: { ids: [id] } });
    for (const by of [call, there]) await eventually(() => expect(by(zones.list)).toFail('INVALID_TOKEN'));
  });

  test('is rejected after its expiry, which must be in the future', async () => {
    const owner = await client();
    const past = new Date(Date.now() - 60_000);
    await expect(tokenOf(owner, { expiresAt: past.toISOString() })).toFail('PARAMETER');
    const { id, call } = await tokenOf(owner, { expiresAt: new Date(Date.now() + 60_000).toISOString() });
    await db.apiToken.update({ where: { id }, data: { expiresAt: past } });
    await expect(call(zones.list)).toFail('INVALID_TOKEN');
  });

  test('of a suspended account, or of a sub-account of one, is rejected at once', async () => {
    const tenant = await build.client();
    const sub = await build.subClient(tenant, [], { permissions: ['zone:read', 'apiToken:write'] });
    const tokens = [await tokenOf(tenant.client), await tokenOf(sub)];
    for (const { call } of tokens) expect(await call(zones.list)).toHaveProperty('total');
    await db.account.update({ where: { id: tenant.client.id }, data: { status: 'lock' } });
    for (const { call } of tokens) await eventually(() => expect(call(zones.list)).toFail('ACCOUNT_NOT_ENABLED'));
    for (const { token } of tokens) await expect(exchange('client', token)).toFail('ACCOUNT_NOT_ENABLED');
  });

  test.each([
    [['192.0.2.0/24'], ['192.0.2.7'], ['192.0.3.7', '2001:db8::7']],
    [['2001:db8::/32'], ['2001:db8::7', '2001:0db8:1::'], ['2001:db9::7', '192.0.2.7']],
    [['192.0.2.7'], ['192.0.2.7', '::ffff:192.0.2.7'], ['192.0.2.8']],
    [['198.51.100.0/24', '0.0.0.0/0'], ['192.0.2.7'], ['2001:db8::7']],
  ])('for %j is accepted from %j and rejected from %j', async (cidrs, good, bad) => {
    const { token } = await tokenOf(await client(), { cidrs });
    for (const address of good) expect((await from(address, token)).status, address).toBe(200);
    for (const address of bad) expect((await from(address, token)).status, address).toBe(403);
  });

  test('cannot be limited to invalid addresses', async () => {
    const owner = await client();
    for (const cidr of ['192.0.2.0/33', '192.0.2', 'localhost', '2001:db8::/129', '1.2.3.4/', ''])
      await expect(tokenOf(owner, { cidrs: [cidr] })).toFail('PARAMETER');
  });

  test('shows its last use, to the minute', async () => {
    const { id, call } = await tokenOf(await client());
    const used = async () => (await db.apiToken.findUniqueOrThrow({ where: { id } })).lastUsedAt;
    await call(zones.list);
    await eventually(async () => expect(await used()).not.toBeNull());
    const first = await used();
    await Promise.all(Array.from({ length: 5 }, () => call(zones.list)));
    expect(await used()).toEqual(first);
  });

  test('cannot create tokens, nor change password, factors, sessions or other accounts', async () => {
    const { call } = await tokenOf(await client(), { permissions: ['apiToken:write', 'account:write'] });
    const body = { name: 'x', permissions: ['zone:read' as const] };
    await expect(call(apiTokens.create, { body })).toFail('PERMISSION_DENIED');
    await expect(call(session.changePassword, { body: { oldPassword: 'x', password: 'long enough' } })).toFail(
      'PERMISSION_DENIED',
    );
    await expect(call(ownSessions.list)).toFail('PERMISSION_DENIED');
    await expect(call(proxy.start, { body: { accountID: (await client()).id } })).toFail('PERMISSION_DENIED');
    await expect(call(session.logout)).toFail('REVOKE_FAILED');
  });

  test('is limited to fifty, also under concurrent requests', async () => {
    const owner = await client();
    const like = { name: 'x', permissions: [], cidrs: [], accountId: owner.id };
    await db.apiToken.createMany({
      data: Array.from({ length: 48 }, (_, i) => ({ ...like, tokenHash: `${owner.id} ${i}` })),
    });
    await Promise.allSettled(Array.from({ length: 8 }, () => tokenOf(owner)));
    expect(await db.apiToken.count({ where: { accountId: owner.id } })).toBe(50);
    await expect(tokenOf(owner)).toFail('LIMIT_REACHED');
  });

  test('is rejected by other consoles and by the other listener', async () => {
    const admin = await build.admin();
    const { token } = await tokenOf(admin, { permissions: ['audit:read'] });
    const list = (base: string) =>
      fetch(`${base}/api/v1/apiTokens`, { headers: { authorization: `Bearer ${admin.token}` } });
    expect([(await list(app.adminUrl)).status, (await list(app.url)).status]).toEqual([200, 403]);
    await expect(as({ kind: 'client', token }).call(session.self)).toFail('PERMISSION_DENIED');
  });
});

describe('a session exchanged for an API token', () => {
  test("has the token's permissions and addresses", async () => {
    const owner = await client();
    const { token } = await tokenOf(owner, { cidrs: ['127.0.0.1'] });
    const { accessToken, refreshToken } = await exchange('client', token);
    const call = as({ kind: 'client', token: accessToken }).call;
    expect(await call(session.self)).toMatchObject({ id: owner.id, permissions: ['zone:read'] });
    await expect(call(zones.create, { body: { name: 'x' } })).toFail('PERMISSION_DENIED');
    await expect(call(ownSessions.list)).toFail('PERMISSION_DENIED');
    expect((await from('192.0.2.1', accessToken)).status).toBe(403);
    // The refresh token can be used once.
    expect(await exchange('client', refreshToken)).toHaveProperty('accessToken');
  });

  test('ends with the token, and has its expiry', async () => {
    const owner = await client();
    const expiresAt = new Date(Date.now() + 600_000).toISOString();
    const { id, token } = await tokenOf(owner, { expiresAt });
    const { accessToken, refreshToken } = await exchange('client', token);
    const [row] = await db.session.findMany({ where: { apiTokenId: id } });
    expect(row?.endsAt.toISOString()).toBe(expiresAt);
    const call = as({ kind: 'client', token: accessToken }).call;
    expect(await call(session.self)).toHaveProperty('id', owner.id);
    await as(owner).call(apiTokens.remove, { body: { ids: [id] } });
    await eventually(() => expect(call(session.self)).toFail('INVALID_TOKEN'));
    await expect(exchange('client', refreshToken)).toFail('REFRESH_FAILED');
    await expect(exchange('client', token)).toFail('REFRESH_FAILED');
  });

  test('is limited to twenty; older ones end', async () => {
    const { id, token } = await tokenOf(await client());
    for (let i = 0; i < 22; i += 1) await exchange('client', token);
    expect(await db.session.count({ where: { apiTokenId: id } })).toBe(20);
  });

  test('of another console is not issued', async () => {
    const { token } = await tokenOf(await client());
    await expect(exchange('user', token)).toFail('REFRESH_FAILED');
    await expect(exchange('client', `cdn_${'A'.repeat(65)}`)).toFail('REFRESH_FAILED');
  });

  test('is listed among its owner’s sessions with the token’s name', async () => {
    const owner = await client();
    const { id, token } = await tokenOf(owner);
    await exchange('client', token);
    const { name } = await db.apiToken.findUniqueOrThrow({ where: { id } });
    const { data } = await as(owner).call(ownSessions.list);
    expect(data.map(({ apiTokenName }) => apiTokenName).toSorted()).toEqual([name, null].toSorted());
  });
});
