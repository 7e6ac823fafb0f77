// Accounts: permissions to create and change accounts, and their states.
import { afterAll, describe, expect, test } from 'vitest';
import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { mailedTokens, session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';
import { clientSites, ownSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { SiteDoc, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { apiClients, type SignedInAccount } from '../support/builders/api-clients.ts';
import { compileBody } from '../support/builders/compiled-documents.ts';
import { testApp } from '../support/services/app.ts';
import { expireAccounts } from '../support/services/background-work.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { mailsTo, mailTo, tokenIn } from '../support/assertions/mailbox.ts';
import '../support/assertions/matchers.ts';
import { outboxKeys } from '../support/assertions/outbox.ts';
import { passwordAccounts } from '../support/builders/password-accounts.ts';

const app = await testApp();
const { build, as, installation, mailDir } = app;
const { db, pool } = installation;
const { anyone, createAccount, signIn } = passwordAccounts(app);
afterAll(app.close);

const role = async (owner: { id: string }, permissions: Permission[]) => {
  const row = await db.role.create({ data: { ownerId: owner.id, name: unique('role'), permissions } });
  return row.id;
};
const fresh = () => ({ email: `${unique('new')}@example.com`, name: unique('new') });
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const DAY = 86_400_000;
const signedInAs = apiClients(installation, app).signIn;

describe('the own account', () => {
  test('changes its own fields, and omitted fields stay', async () => {
    const { client } = await build.client();
    const self = await as(client).call(session.updateSelf, {
      body: { name: 'night-shift', phone: '+886 2 1234', companyTaxID: '12345675', language: 'en', loginNotify: false },
    });
    expect(self).toMatchObject({ name: 'night-shift', phone: '+886 2 1234', companyTaxID: '12345675', language: 'en' });
    const again = await as(client).call(session.updateSelf, { body: { address: 'Taipei' } });
    expect(again).toEqual({ ...self, address: 'Taipei' });
    expect(await as(client).call(session.self)).toEqual(again);
  });

  test('dismisses the list of first steps for itself, in every browser, and shows it again', async () => {
    const tenant = await build.client();
    const [{ client }, other] = [tenant, await build.subClient(tenant, [])];
    const isHidden = async (who: SignedInAccount) => (await as(who).call(session.self)).hidesFirstSteps;
    expect(await isHidden(client)).toBe(false);
    await as(client).call(session.updateSelf, { body: { hidesFirstSteps: true } });
    expect(await isHidden(client)).toBe(true);
    expect(await isHidden(other)).toBe(false);
    await as(client).call(session.updateSelf, { body: { hidesFirstSteps: false } });
    expect(await isHidden(client)).toBe(false);
  });

  test('may have a name in any script, without control and bidirectional characters, and not "default"', async () => {
    const { client } = await build.client();
    for (const name of ['王小明', "José O'Brien", 'two words', 'Ōno-García'])
      expect(await as(client).call(session.updateSelf, { body: { name } })).toMatchObject({ name });
    for (const name of ['Default', '', 'a\nb', 'a\u202eb', 'x'.repeat(65)])
      await expect(as(client).call(session.updateSelf, { body: { name } })).toFail('PARAMETER');
  });

  test('cannot change its permissions and owner', async () => {
    const user = await build.user(await build.client());
    const before = await db.account.findUniqueOrThrow({ where: { id: user.id } });
    const owned = { isRoot: false, kind: 'admin', status: 'lock', clientId: null, parentId: user.id, roleId: null };
    const secret = { email: 'other@example.com', passwordHash: 'x', login2faType: 2, expiresAt: null, permissions: [] };
    await expect(as(user).call(session.updateSelf, { body: { phone: '1', ...owned, ...secret } })).toFail('PARAMETER', {
      errorData: Object.keys({ ...owned, ...secret }).map((path) => expect.objectContaining({ path, rule: 'unknown' })),
    });
    expect(await db.account.findUniqueOrThrow({ where: { id: user.id } })).toEqual(before);
  });
});

describe('an invitation', () => {
  test('leads a new operator to its first sign-in', async () => {
    const admin = await build.admin();
    const { email, name } = fresh();
    const made = await as(admin).call(accounts.create, {
      body: { email, name, auth: 'client', clientName: 'Harbour Lights', language: 'en' },
    });
    expect(made).toMatchObject({ auth: 'client', isRoot: true, status: 'normal', clientName: 'Harbour Lights' });
    expect(made).toMatchObject({ emailConfirmed: false, lastSignInAt: null, subCount: 0, siteCount: 0 });
    expect(Date.parse(made.invitationEndsAt ?? '')).toBeGreaterThan(Date.now() + DAY - 60_000);

    const token = tokenIn(await mailTo(mailDir, email, /new account/));
    const checked = await anyone('client')(mailedTokens.check, { body: { token } });
    expect(checked).toEqual({ email, auth: 'client', purpose: 'invitation' });
    await anyone('client')(mailedTokens.register, { body: { token, password: 'correct horse battery' } });
    await db.account.update({ where: { id: made.id }, data: { login2faType: 2 } });
    const { accessToken } = await signIn({ email, kind: 'client' });
    const self = await as({ kind: 'client', token: accessToken }).call(session.self);
    expect(self).toMatchObject({ email, isRoot: true, clientID: made.clientID });
    const shown = await as(admin).call(accounts.get, { params: { id: made.id } });
    expect(shown).toMatchObject({ emailConfirmed: true, invitationEndsAt: null });
    expect(shown.lastSignInAt).not.toBeNull();
  });

  test('that is sent again replaces the older one, and can be accepted once', async () => {
    const { client } = await build.client();
    const { email, name } = fresh();
    const { id } = await as(client).call(accounts.create, { body: { email, name, auth: 'user', language: 'en' } });
    const first = tokenIn(await mailTo(mailDir, email));
    await as(client).call(accounts.resend, { body: { id } });
    const mails = await eventually(async () => {
      const found = await mailsTo(mailDir, email);
      expect(found).toHaveLength(2);
      return found;
    });
    const second = mails.map(tokenIn).find((token) => token !== first) ?? '';
    await expect(anyone('user')(mailedTokens.check, { body: { token: first } })).toFail('INVALID_TOKEN');
    await anyone('user')(mailedTokens.register, { body: { token: second, password: 'correct horse battery' } });
    await expect(as(client).call(accounts.resend, { body: { id } })).toFail('PARAMETER', {
      errorData: [{ path: 'id', rule: 'confirmed', message: 'the invitation was taken up' }],
    });
  });

  test('is sent to an address once per console, over all operators', async () => {
    const [one, other] = [await build.client(), await build.client()];
    const { email, name } = fresh();
    await as(one.client).call(accounts.create, { body: { email, name, auth: 'user' } });
    await expect(
      as(other.client).call(accounts.create, { body: { email: email.toUpperCase(), name, auth: 'user' } }),
    ).toFail('EMAIL_TAKEN');
    await as(other.client).call(accounts.create, { body: { email, name, roleID: await role(other.client, []) } });
  });

  test('can be sent a hundred times in 15 minutes', async () => {
    const { client } = await build.client();
    const { id } = await as(client).call(accounts.create, { body: { ...fresh(), auth: 'user' } });
    await pool.query(`UPDATE login_failures SET count = 99`);
    await expect(as(client).call(accounts.resend, { body: { id } })).resolves.toEqual({});
    await expect(as(client).call(accounts.resend, { body: { id } })).toFail('RATE_LIMITED');
  });
});

describe('an account is created', () => {
  test('by its parent: operators by admins, customers by operators, sub-accounts by their root account', async () => {
    const [admin, { client, clientId }] = [await build.admin(), await build.client()];
    const sub = await as(admin).call(accounts.create, { body: { ...fresh(), roleID: await role(admin, []) } });
    expect(sub).toMatchObject({ auth: 'admin', isRoot: false, parentID: admin.id, clientID: null });
    const customer = await as(client).call(accounts.create, { body: { ...fresh(), auth: 'user' } });
    expect(customer).toMatchObject({ auth: 'user', isRoot: true, parentID: null, clientID: clientId, roleID: null });
    expect(await db.account.findUnique({ where: { id: customer.id } })).toMatchObject({ parentId: client.id });

    const user = await build.user({ clientId });
    const all = await role(user, ['account:read', 'account:write']);
    const one = await as(user).call(accounts.create, { body: { ...fresh(), roleID: all } });
    expect(one).toMatchObject({ auth: 'user', isRoot: false, parentID: user.id, roleID: all });
    // A sub-account creates siblings.
    const two = await build.subUser(user, [], { permissions: ['account:read', 'account:write'] });
    const made = await as(two).call(accounts.create, { body: { ...fresh(), roleID: all } });
    expect(made).toMatchObject({ parentID: user.id, clientID: clientId });
  });

  test('not by an account of another kind', async () => {
    const [admin, { client }] = [await build.admin(), await build.client()];
    const user = await build.user({ clientId: client.clientId ?? '' });
    for (const [who, auth] of [
      [admin, 'user'],
      [client, 'admin'],
      [user, 'client'],
      [user, 'admin'],
    ] as const)
      await expect(as(who).call(accounts.create, { body: { ...fresh(), auth } })).toFail('PARAMETER');
    const named = { ...fresh(), clientName: 'x' };
    await expect(as(client).call(accounts.create, { body: { ...named, auth: 'user' } })).toFail('PARAMETER');
    await expect(as(client).call(accounts.create, { body: { ...named, roleID: await role(client, []) } })).toFail(
      'PARAMETER',
    );
    await expect(as(client).call(accounts.create, { body: { ...fresh(), auth: 'user', expiry: ago(1000) } })).toFail(
      'PARAMETER',
    );
  });

  test('with a role of its own root account, and without more permissions than its creator', async () => {
    const [{ client }, other] = [await build.client(), await build.client()];
    await expect(as(client).call(accounts.create, { body: fresh() })).toFail('PARAMETER', {
      errorData: [{ path: 'roleID', rule: 'required', message: 'required' }],
    });
    const [small, large] = [await role(client, ['site:read']), await role(client, ['site:read', 'node:write'])];
    await expect(as(client).call(accounts.create, { body: { ...fresh(), auth: 'user', roleID: small } })).toFail(
      'PARAMETER',
    );
    await expect(
      as(client).call(accounts.create, { body: { ...fresh(), roleID: await role(other.client, []) } }),
    ).toFail('NOT_FOUND');
    const sub = await build.subClient({ clientId: client.clientId ?? '', client }, [], {
      permissions: ['account:read', 'account:write', 'site:read'],
    });
    await expect(as(sub).call(accounts.create, { body: { ...fresh(), roleID: large } })).toFail('PERMISSION_DENIED');
    await as(sub).call(accounts.create, { body: { ...fresh(), roleID: small } });
    expect(await db.account.count({ where: { roleId: large } })).toBe(0);
  });
});

describe('an update', () => {
  const write: Permission[] = ['account:read', 'account:write'];

  test('is limited to managed accounts: not itself, not its root account, none with more permissions', async () => {
    const tenant = await build.client();
    const user = await build.user(tenant);
    const sub = await build.subUser(user, [], { permissions: write });
    const above = await build.subUser(user, [], { permissions: [...write, 'site:write'] });
    const below = await build.subUser(user, [], { permissions: ['account:read'] });
    const [stranger] = [await build.user(tenant)];
    const change = (who: typeof sub, id: string) =>
      as(who).call(accounts.update, { body: { id, name: 'changed', status: 'pause' } });
    for (const target of [user, sub, above]) await expect(change(sub, target.id)).toFail('PERMISSION_DENIED');
    await expect(change(sub, stranger.id)).toFail('NOT_FOUND');
    await expect(change(user, tenant.client.id)).toFail('NOT_FOUND');
    await expect(change(user, user.id)).toFail('PERMISSION_DENIED');
    await expect(change(tenant.client, tenant.client.id)).toFail('PERMISSION_DENIED');
    const [admin, another] = [await build.admin(), await build.admin()];
    await expect(change(admin, another.id)).toFail('PERMISSION_DENIED');
    expect(await change(sub, below.id)).toMatchObject({ name: 'changed', status: 'pause' });
    // An operator manages all accounts of its customers; an administrator all accounts of operators.
    expect(await change(tenant.client, above.id)).toMatchObject({ name: 'changed' });
    expect(await change(admin, tenant.client.id)).toMatchObject({ status: 'pause' });
    for (const target of [user, sub, above])
      await expect(as(sub).call(accounts.remove, { body: { ids: [target.id] } })).toFail('PERMISSION_DENIED');
  });

  test('of a list is atomic', async () => {
    const { client } = await build.client();
    const [mine, theirs] = [
      await build.user({ clientId: client.clientId ?? '' }),
      await build.user(await build.client()),
    ];
    await expect(as(client).call(accounts.remove, { body: { ids: [mine.id, theirs.id] } })).toFail('NOT_FOUND');
    await expect(as(client).call(accounts.remove, { body: { ids: [mine.id, client.id] } })).toFail('PERMISSION_DENIED');
    expect(await db.account.count({ where: { id: mine.id } })).toBe(1);
  });

  test('moves between normal, paused and locked; expiry follows only from the date', async () => {
    const { client } = await build.client();
    const user = await build.user({ clientId: client.clientId ?? '' });
    const change = (body: object) => as(client).call(accounts.update, { body: { id: user.id, ...body } });
    for (const status of ['pause', 'lock', 'normal'] as const)
      expect(await change({ status })).toMatchObject({ status });
    await expect(change({ status: 'expired' })).toFail('PARAMETER');
    const expired = await change({ expiry: ago(1000) });
    expect(expired.status).toBe('expired');
    await expect(change({ status: 'normal' })).toFail('PARAMETER', {
      errorData: [{ path: 'expiry', rule: 'past', message: 'the date has passed' }],
    });
    expect(await change({ status: 'lock' })).toMatchObject({ status: 'lock' });
    await expect(change({ status: 'normal' })).toFail('PARAMETER');
    expect(await change({ status: 'normal', expiry: ago(-DAY) })).toMatchObject({ status: 'normal' });
    expect(await change({ expiry: null })).toMatchObject({ status: 'normal', expiry: null });
  });

  test("of an operator's name needs an administrator", async () => {
    const [admin, { client, clientId }] = [await build.admin(), await build.client()];
    const user = await build.user({ clientId });
    const named = (id: string) => ({ body: { id, clientName: 'Renamed' } });
    expect(await as(admin).call(accounts.update, named(client.id))).toMatchObject({ clientName: 'Renamed' });
    await expect(as(admin).call(accounts.update, named(user.id))).toFail('PARAMETER');
    await expect(as(client).call(accounts.update, named(user.id))).toFail('PARAMETER');
  });
});

describe('a removal', () => {
  test('needs an account without sites, and deletes its sub-accounts, sessions and invitations', async () => {
    const site = await build.site();
    const { client, owner } = site;
    const sub = await build.subUser(owner, [site]);
    const gone = () => as(client).call(accounts.remove, { body: { ids: [owner.id] } });
    const { name } = await db.account.findUniqueOrThrow({ where: { id: owner.id } });
    await expect(gone()).toFail('STILL_IN_USE', { errorData: [{ rule: 'inUse', targets: [name] }] });
    await db.site.delete({ where: { id: site.id } });
    await gone();
    expect(await db.account.count({ where: { id: { in: [owner.id, sub.id] } } })).toBe(0);
    expect(await db.role.count({ where: { ownerId: owner.id } })).toBe(0);
    await eventually(() => expect(as(sub).call(session.self)).toFail('INVALID_TOKEN'));
  });

  test('of an operator needs an unused operator, and deletes everything of it', async () => {
    const [admin, { client, clientId }] = [await build.admin(), await build.client()];
    const zone = await build.zone({ tenant: { client, clientId } });
    const gone = () => as(admin).call(accounts.remove, { body: { ids: [client.id] } });
    await expect(gone()).toFail('STILL_IN_USE', { errorData: [expect.objectContaining({ rule: 'inUse' })] });
    await db.zone.delete({ where: { id: zone.id } });
    const user = await build.user({ clientId });
    await expect(gone()).toFail('STILL_IN_USE', { errorData: [expect.objectContaining({ rule: 'inUse' })] });
    await as(client).call(accounts.remove, { body: { ids: [user.id] } });
    await build.subClient({ client, clientId }, []);
    await gone();
    expect(await db.client.count({ where: { id: clientId } })).toBe(0);
    expect(await db.account.count({ where: { clientId } })).toBe(0);
  });
});

describe('a suspension', () => {
  test.each([
    ['a sub-account of a locked customer', 'lock', 'customer', 'sub'],
    ['a sub-account of a paused customer', 'pause', 'customer', 'sub'],
    ['a customer of a locked operator', 'lock', 'operator', 'customer'],
    ['a customer of an expired operator', 'expired', 'operator', 'customer'],
    ['a sub-account of a customer of a locked operator', 'lock', 'operator', 'sub'],
  ] as const)('blocks %s, at once and at the next sign-in', async (_, status, whom, who) => {
    const operator = await createAccount();
    const clientId = operator.clientId ?? '';
    const made = await createAccount({ kind: 'user', clientId });
    const customer = await db.account.update({ where: { id: made.id }, data: { parentId: operator.id } });
    const login = await createAccount({ kind: 'user', clientId });
    const sub = await db.account.update({
      where: { id: login.id },
      data: { isRoot: false, parentId: customer.id, roleId: await role(customer, ['site:read']) },
    });
    const out = { customer, sub }[who];
    const { accessToken, refreshToken } = await signIn(out);
    const call = as({ kind: 'user', token: accessToken }).call;
    await call(session.self);

    const target = { customer, operator }[whom];
    await db.account.update({ where: { id: target.id }, data: { status } });
    await eventually(() => expect(call(session.self)).toFail('ACCOUNT_NOT_ENABLED'));
    await expect(signIn(out)).toFail('ACCOUNT_NOT_ENABLED');
    await expect(anyone('user')(session.refresh, { body: { refreshToken } })).rejects.toThrow();
    await expect(signIn(out, 'a wrong password')).toFail('CREDENTIAL_REFUSED');
    await db.account.update({ where: { id: target.id }, data: { status: 'normal' } });
    await signIn(out);
  });

  test('that only pauses an operator does not affect its customers', async () => {
    const tenant = await build.client();
    const user = await build.user(tenant);
    await db.account.update({ where: { id: tenant.client.id }, data: { status: 'pause' } });
    expect(await as(user).call(session.self)).toMatchObject({ id: user.id });
    await eventually(() => expect(as(tenant.client).call(session.self)).toFail('ACCOUNT_NOT_ENABLED'));
  });

  test('ends sessions: a reactivated account must sign in again', async () => {
    const tenant = await build.client();
    const user = await build.user(tenant);
    const sub = await build.subUser(user, []);
    const change = (status: 'pause' | 'normal') =>
      as(tenant.client).call(accounts.update, { body: { id: user.id, status } });
    await change('pause');
    await change('normal');
    for (const who of [user, sub]) await eventually(() => expect(as(who).call(session.self)).toFail('INVALID_TOKEN'));
  });

  test('by expiry takes effect in time, and the job stores it later', async () => {
    const site = await build.site();
    const { owner, client } = site;
    await db.account.update({ where: { id: owner.id }, data: { expiresAt: new Date(Date.now() - 1000) } });
    await eventually(() => expect(as(owner).call(session.self)).toFail('ACCOUNT_NOT_ENABLED'));
    const locked = await build.user({ clientId: site.clientId });
    await db.account.update({ where: { id: locked.id }, data: { status: 'lock', expiresAt: new Date(0) } });
    await Promise.all([expireAccounts(installation), expireAccounts(installation)]);
    const shown = (id: string) => as(client).call(accounts.get, { params: { id } });
    expect(await shown(owner.id)).toMatchObject({ status: 'expired' });
    expect(await shown(locked.id)).toMatchObject({ status: 'lock' });
    expect(await outboxKeys(installation, site.zoneId)).toEqual([siteKey(site.id)]);
  });
});

describe('sites', () => {
  const statusOf = async ({ id, zoneId }: BuiltSite) =>
    SiteDoc.parse(JSON.parse(await compileBody(installation, zoneId, siteKey(id)))).status;

  test('of a locked customer are out of service until unlocked; those of a paused customer serve', async () => {
    const site = await build.site();
    const beside = await build.site({ product: site.product });
    const change = (status: 'pause' | 'lock' | 'normal') =>
      as(site.client).call(accounts.update, { body: { id: site.owner.id, status } });
    await change('pause');
    expect(await outboxKeys(installation, site.zoneId)).toEqual([]);
    expect(await statusOf(site)).toBe('normal');
    await change('lock');
    expect([await statusOf(site), await statusOf(beside)]).toEqual(['lock', 'normal']);
    const { data } = await as(site.client).call(clientSites.list, { query: { userID: site.owner.id } });
    expect(data).toMatchObject([{ status: 'normal', userStatus: 'lock' }]);
    await change('normal');
    expect(await statusOf(site)).toBe('normal');
    expect(await outboxKeys(installation, site.zoneId)).toEqual([siteKey(site.id), siteKey(site.id)]);
  });

  test('of all customers of a locked operator are out of service, including those without owner', async () => {
    const admin = await build.admin();
    const site = await build.site();
    const orphan = await build.site({ product: site.product });
    await db.site.update({ where: { id: orphan.id }, data: { ownerId: null } });
    const foreign = await build.site();
    await as(admin).call(accounts.update, { body: { id: site.client.id, status: 'lock' } });
    expect(await Promise.all([site, orphan, foreign].map(statusOf))).toEqual(['lock', 'lock', 'normal']);
    expect((await outboxKeys(installation, site.zoneId)).toSorted()).toEqual(
      [siteKey(site.id), siteKey(orphan.id)].toSorted(),
    );
    expect(await outboxKeys(installation, foreign.zoneId)).toEqual([]);
    await eventually(() => expect(as(site.owner).call(ownSites.list)).toFail('ACCOUNT_NOT_ENABLED'));
  });
});

describe('a list', () => {
  test('contains the own console and the one below, filtered by kind, operator, text and state', async () => {
    const [admin, { client, clientId }] = [await build.admin(), await build.client()];
    const user = await build.user({ clientId });
    const sub = await build.subUser(user, [], { permissions: ['account:read'] });
    await db.account.update({ where: { id: user.id }, data: { companyName: '100%_net' } });
    await db.account.update({ where: { id: sub.id }, data: { status: 'pause' } });
    const ids = async (who: typeof admin, query: object) =>
      (await as(who).call(accounts.list, { query: { pageSize: 500, ...query } })).data.map(({ id }) => id);
    expect((await ids(client, {})).toSorted()).toEqual([client.id, user.id, sub.id].toSorted());
    expect(await ids(client, { status: ['pause', 'lock'] })).toEqual([sub.id]);
    expect(await ids(client, { auth: 'user', isRoot: true })).toEqual([user.id]);
    expect(await ids(client, { name: '100%_' })).toEqual([user.id]);
    expect(await ids(client, { name: '%' })).toEqual([user.id]);
    expect(await ids(admin, { client: clientId, auth: 'user' })).toEqual([user.id, sub.id]);
    const beyond = await build.client();
    expect(await ids(client, { client: beyond.clientId })).toEqual([]);
  });

  test('is paged and sorted, and marks managed accounts', async () => {
    const { client, clientId } = await build.client();
    for (const name of ['b', 'a', 'c'])
      await as(client).call(accounts.create, { body: { ...fresh(), name, auth: 'user' } });
    const page = (n: number) =>
      as(client).call(accounts.list, {
        query: { auth: 'user', sortBy: 'name', orderBy: 'desc', page: n, pageSize: 2 },
      });
    expect([await page(1), await page(2)].map(({ data, total }) => [total, ...data.map(({ name }) => name)])).toEqual([
      [3, 'c', 'b'],
      [3, 'a'],
    ]);
    const own = await as(client).call(accounts.list, { query: { auth: 'client' } });
    expect(own.data).toMatchObject([{ id: client.id, manageable: false, clientID: clientId }]);
    expect((await page(1)).data.every(({ manageable }) => manageable)).toBe(true);
  });

  test('contains sub-accounts of the own root account, and for operators those of their customers', async () => {
    const tenant = await build.client();
    const user = await build.user(tenant);
    const sub = await build.subUser(user, [], { permissions: ['account:read'] });
    const foreign = await build.user(await build.client());
    const subs = async (who: typeof user, id: string) =>
      (await as(who).call(accounts.subs, { params: { id } })).data.map((row) => row.id);
    expect(await subs(user, user.id)).toEqual([sub.id]);
    expect(await subs(sub, user.id)).toEqual([sub.id]);
    expect(await subs(tenant.client, user.id)).toEqual([sub.id]);
    expect(await subs(tenant.client, tenant.client.id)).toEqual([]);
    await expect(subs(user, foreign.id)).toFail('NOT_FOUND');
    await expect(subs(user, tenant.client.id)).toFail('NOT_FOUND');
  });

  test('shows role, grade, parent, creator, sign-in notices and authenticator, and filters by them', async () => {
    const tenant = await build.client();
    const admin = await build.admin();
    await db.account.update({ where: { id: tenant.client.id }, data: { createdById: admin.id } });
    const roleId = await role(tenant.client, ['account:read', 'account:write']);
    const staff = await as(tenant.client).call(accounts.create, { body: { ...fresh(), roleID: roleId } });
    const creator = await db.account.findUniqueOrThrow({ where: { id: staff.id } });
    const made = await as(await signedInAs(creator)).call(accounts.create, { body: { ...fresh(), auth: 'user' } });
    await db.account.update({ where: { id: made.id }, data: { login2faType: 1, loginNotify: false } });
    const rows = async (query: object) => (await as(tenant.client).call(accounts.list, { query })).data;
    const [operator] = await rows({ auth: 'client', isRoot: true });
    // Operators do not see administrators.
    expect(operator).toMatchObject({ grade: 0, parentID: null, createdByID: null, createdByName: null });
    expect(await rows({ roleID: roleId })).toMatchObject([
      {
        id: staff.id,
        grade: 1,
        roleID: roleId,
        parentID: tenant.client.id,
        createdByID: tenant.client.id,
        loginNotify: true,
        googleVerification: false,
      },
    ]);
    const customer = { id: made.id, grade: 0, createdByID: staff.id, createdByName: staff.name };
    expect(await rows({ googleVerification: true })).toMatchObject([{ ...customer, googleVerification: true }]);
    expect(await rows({ loginNotify: false })).toMatchObject([{ ...customer, loginNotify: false }]);
    const toAdmin = await as(admin).call(accounts.get, { params: { id: tenant.client.id } });
    expect(toAdmin).toMatchObject({ createdByID: admin.id, createdByName: admin.email });

    const own = await as(await signedInAs(creator)).call(session.self);
    expect(own).toMatchObject({
      grade: 1,
      roleID: roleId,
      parentID: tenant.client.id,
      createdByID: tenant.client.id,
      loginNotify: true,
      googleVerification: false,
    });
    const root = await as(tenant.client).call(session.self);
    expect(root).toMatchObject({ grade: 0, roleID: null, parentID: null, createdByID: null, createdByName: null });
    // The account stays when its creator is removed.
    await db.account.delete({ where: { id: staff.id } });
    expect(await rows({ auth: 'user' })).toMatchObject([{ id: made.id, createdByID: null, createdByName: null }]);
  });

  test('contains no secrets', async () => {
    const someone = await createAccount();
    const shown = JSON.stringify(await as(await build.admin()).call(accounts.get, { params: { id: someone.id } }));
    expect(shown).not.toMatch(/argon2|passwordHash|token/i);
  });
});
