import { afterAll, describe, expect, test } from 'vitest';
import { session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { accessToken } from '../support/builders/api-clients.ts';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { codeIn, mailTo } from '../support/assertions/mailbox.ts';
import { password, passwordHash } from '../support/builders/password-accounts.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { db, pool } = app.installation;
afterAll(() => app.close());

const anyone = app.as({ kind: 'client', token: null }).call;
const bearer = (token: string) => app.as({ kind: 'client', token }).call;

async function account({ login2faType = 2, kind = 'client' as const, status = 'normal' as const } = {}) {
  const { clientId } = await app.build.client();
  const email = `${unique('someone')}@example.com`;
  return db.account.create({
    data: { kind, email, name: 'Someone', passwordHash, isRoot: true, clientId, login2faType, status, language: 'en' },
  });
}
async function signIn({ email }: { email: string }) {
  const { onePassKey, vcode = '' } = await anyone(session.login, { body: { email, password } });
  return anyone(session.code, { body: { email, onePassKey, vcode } });
}
/** A plain request with cookies, as a browser sends it. */
const browser = (method: string, cookie = '', body: object = {}) =>
  fetch(`${app.url}/api/v1/client`, {
    method,
    headers: { 'content-type': 'application/json', cookie },
    body: JSON.stringify(body),
  });

describe('signing in', () => {
  test('takes two calls without a second factor', async () => {
    const someone = await account();
    const { accessToken: token, tokenType } = await signIn(someone);
    expect(tokenType).toBe('Bearer');
    expect(await bearer(token)(session.self)).toMatchObject({
      id: someone.id,
      email: someone.email,
      auth: 'client',
      isRoot: true,
      clientID: someone.clientId,
      permissions: expect.arrayContaining(['zone:write']),
    });
  });

  test('with mailed codes asks for the code', async () => {
    const { email } = await account({ login2faType: 0 });
    const started = await anyone(session.login, { body: { email, password } });
    expect(started).toEqual({ login2FAType: 0, onePassKey: expect.any(String), passkey: false });
    const vcode = codeIn(await mailTo(app.mailDir, email));
    expect(vcode).toHaveLength(6);
    expect(await anyone(session.code, { body: { email, onePassKey: started.onePassKey, vcode } })).toHaveProperty(
      'accessToken',
    );
  });

  test('is case-insensitive in the address', async () => {
    const { email } = await account();
    expect(await anyone(session.login, { body: { email: ` ${email.toUpperCase()}`, password } })).toHaveProperty(
      'vcode',
    );
  });

  test('accepts a code once, for its own account, within five attempts', async () => {
    const [one, other] = [await account(), await account()];
    const begin = async () => {
      const { onePassKey, vcode = '' } = await anyone(session.login, { body: { email: one.email, password } });
      return { email: one.email, onePassKey, vcode };
    };
    const good = await begin();
    await anyone(session.code, { body: good });
    await expect(anyone(session.code, { body: good })).toFail('CREDENTIAL_REFUSED');
    await expect(anyone(session.code, { body: { ...(await begin()), email: other.email } })).toFail(
      'CREDENTIAL_REFUSED',
    );

    const tried = await begin();
    const wrong = tried.vcode === '000000' ? '000001' : '000000';
    for (let i = 0; i < 5; i += 1)
      await expect(anyone(session.code, { body: { ...tried, vcode: wrong } })).toFail('CREDENTIAL_REFUSED');
    await expect(anyone(session.code, { body: tried })).toFail('CREDENTIAL_REFUSED');
  });

  test('responds the same for a wrong password and an unknown address', async () => {
    const { email } = await account();
    await expect(anyone(session.login, { body: { email, password: 'wrong password' } })).toFail('CREDENTIAL_REFUSED');
    await expect(anyone(session.login, { body: { email: `${unique('x')}@example.com`, password } })).toFail(
      'CREDENTIAL_REFUSED',
    );
  });

  test('does not know accounts of another console', async () => {
    const { email } = await account();
    await expect(app.as({ kind: 'user', token: null }).call(session.login, { body: { email, password } })).toFail(
      'CREDENTIAL_REFUSED',
    );
  });

  test.each(['pause', 'lock', 'expired'] as const)(
    'rejects an account that is %s, after the password only',
    async (status) => {
      const { id, email } = await account();
      await db.account.update({ where: { id }, data: { status } });
      await expect(anyone(session.login, { body: { email, password } })).toFail('ACCOUNT_NOT_ENABLED');
      await expect(anyone(session.login, { body: { email, password: 'wrong password' } })).toFail('CREDENTIAL_REFUSED');
    },
  );

  test('locks the pair of address and account after ten failures, even for the right password and concurrently', async () => {
    const { email } = await account();
    const guess = () => anyone(session.login, { body: { email, password: 'wrong password' } });
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, guess));
    const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.status : 200));
    expect(codes.filter((code) => code === 401)).toHaveLength(10);
    expect(codes.filter((code) => code === 429)).toHaveLength(2);
    await expect(anyone(session.login, { body: { email, password } })).toFail('RATE_LIMITED');

    await pool.query(
      `UPDATE login_failures SET locked_until = now() - interval '1 second' WHERE locked_until IS NOT NULL`,
    );
    expect(await anyone(session.login, { body: { email, password } })).toHaveProperty('vcode');
  });

  test('mails at most five codes at a time', async () => {
    const { email } = await account({ login2faType: 0 });
    for (let i = 0; i < 5; i += 1) await anyone(session.login, { body: { email, password } });
    await expect(anyone(session.login, { body: { email, password } })).toFail('RATE_LIMITED');
  });

  test('stores neither tokens nor codes in plain text', async () => {
    const someone = await account();
    const { onePassKey, vcode = '' } = await anyone(session.login, { body: { email: someone.email, password } });
    const before = JSON.stringify(await db.loginChallenge.findMany({ where: { accountId: someone.id } }));
    const tokens = await anyone(session.code, { body: { email: someone.email, onePassKey, vcode } });
    await anyone(session.refresh, { body: { refreshToken: tokens.refreshToken } });
    const after = JSON.stringify(await db.session.findMany({ where: { accountId: someone.id } }));
    for (const secret of [onePassKey, vcode, tokens.refreshToken, tokens.accessToken])
      expect(before + after).not.toContain(secret);
  });
});

describe('a session', () => {
  test('is continued by its refresh token, which changes each time', async () => {
    const first = await signIn(await account());
    const second = await anyone(session.refresh, { body: { refreshToken: first.refreshToken } });
    const third = await anyone(session.refresh, { body: { refreshToken: second.refreshToken } });
    expect(new Set([first, second, third].map(({ refreshToken }) => refreshToken)).size).toBe(3);
    expect(await bearer(third.accessToken)(session.self)).toHaveProperty('id');
  });

  test('returns the same tokens for concurrent refreshes', async () => {
    const { refreshToken } = await signIn(await account());
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => anyone(session.refresh, { body: { refreshToken } })),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });

  test('ends when an exchanged token is used again later', async () => {
    const someone = await account();
    const { refreshToken } = await signIn(someone);
    const thief = await anyone(session.refresh, { body: { refreshToken } });
    await db.session.updateMany({
      where: { accountId: someone.id },
      data: { rotatedAt: new Date(Date.now() - 11_000) },
    });
    await expect(anyone(session.refresh, { body: { refreshToken } })).toFail('REFRESH_FAILED');
    await expect(anyone(session.refresh, { body: { refreshToken: thief.refreshToken } })).toFail('REFRESH_FAILED');
    await eventually(() => expect(bearer(thief.accessToken)(session.self)).toFail('INVALID_TOKEN'));
  });

  test('ends also for a token exchanged long ago, but not for an unknown token', async () => {
    const { refreshToken } = await signIn(await account());
    const second = await anyone(session.refresh, { body: { refreshToken } });
    const third = await anyone(session.refresh, { body: { refreshToken: second.refreshToken } });
    const invented = `${third.refreshToken.split('.')[0]}.${'a'.repeat(43)}.${'b'.repeat(22)}`;
    await expect(anyone(session.refresh, { body: { refreshToken: invented } })).toFail('REFRESH_FAILED');
    const fourth = await anyone(session.refresh, { body: { refreshToken: third.refreshToken } });
    await expect(anyone(session.refresh, { body: { refreshToken } })).toFail('REFRESH_FAILED');
    await expect(anyone(session.refresh, { body: { refreshToken: fourth.refreshToken } })).toFail('REFRESH_FAILED');
  });

  test('is not refreshed at another console, after an idle month, or past its end', async () => {
    const someone = await account();
    const { refreshToken } = await signIn(someone);
    await expect(app.as({ kind: 'user', token: null }).call(session.refresh, { body: { refreshToken } })).toFail(
      'REFRESH_FAILED',
    );
    await anyone(session.refresh, { body: { refreshToken } });
    const sessions = { where: { accountId: someone.id } };
    const again = await signIn(someone);
    await db.session.updateMany({ ...sessions, data: { lastUsedAt: new Date(Date.now() - 31 * 86_400_000) } });
    await expect(anyone(session.refresh, { body: { refreshToken: again.refreshToken } })).toFail('REFRESH_FAILED');
    await db.session.updateMany({ ...sessions, data: { lastUsedAt: new Date(), endsAt: new Date(Date.now() - 1000) } });
    await expect(anyone(session.refresh, { body: { refreshToken: again.refreshToken } })).toFail('REFRESH_FAILED');
  });

  test('ends on sign-out, at once and with its tokens', async () => {
    const { accessToken: token, refreshToken } = await signIn(await account());
    const other = await signIn(await account());
    await expect(bearer(token)(session.logout, { body: { refreshToken: other.refreshToken } })).toFail('REVOKE_FAILED');
    await bearer(token)(session.logout);
    await eventually(() => expect(bearer(token)(session.self)).toFail('INVALID_TOKEN'));
    await expect(anyone(session.refresh, { body: { refreshToken } })).toFail('REFRESH_FAILED');
  });

  test('of a suspended account is rejected, and stays ended after reactivation', async () => {
    const { client } = await app.build.client();
    const call = app.as(client).call;
    await call(zones.list);
    await db.account.update({ where: { id: client.id }, data: { status: 'pause' } });
    await eventually(() => expect(call(zones.list)).toFail('ACCOUNT_NOT_ENABLED'));
    await db.account.update({ where: { id: client.id }, data: { status: 'normal' } });
    await eventually(() => expect(call(zones.list)).toFail('INVALID_TOKEN'));
  });
});

describe('an access token', () => {
  test('that is forged, has another algorithm or account, or has expired is rejected', async () => {
    const [{ client }, other] = [await app.build.client(), await app.build.client()];
    const claims = {
      sub: client.id,
      kind: 'client',
      client: client.clientId,
      session: client.sessionId,
      actor: client.id,
    };
    const unsigned = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${client.token.split('.')[1]}.`;
    for (const token of [
      'x',
      `${client.token}x`,
      unsigned,
      accessToken(app.installation, claims, { alg: 'HS256' }),
      accessToken(app.installation, { ...claims, sub: other.client.id }),
    ])
      await expect(bearer(token)(session.self)).toFail('INVALID_TOKEN');
    await expect(bearer(accessToken(app.installation, claims, { lifetimeSeconds: -1 }))(session.self)).toFail(
      'TOKEN_EXPIRED',
    );
  });

  test('is rejected by other consoles', async () => {
    const { client } = await app.build.client();
    await expect(app.as({ kind: 'user', token: client.token }).call(session.self)).toFail('PERMISSION_DENIED');
    await expect(app.as({ kind: 'admin', token: client.token }).call(session.self)).toFail('PERMISSION_DENIED');
  });
});

describe('in a browser', () => {
  const cookies = (answer: Response) => answer.headers.getSetCookie();
  const start = async (cookie = '') => {
    const someone = await account();
    const { onePassKey, vcode } = await anyone(session.login, { body: { email: someone.email, password } });
    const answer = await fetch(`${app.url}/api/v1/client/code`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify({ email: someone.email, onePassKey, vcode }),
    });
    return cookies(answer);
  };

  test('the refresh token is in an HttpOnly, same-site cookie', async () => {
    const [access, type, refresh] = await start();
    expect(access).toMatch(/^c_accessToken=ey[^;]+; Max-Age=63072000; Path=\/; SameSite=Strict$/);
    expect(type).toMatch(/^c_tokenType=Bearer; .*Path=\/; SameSite=Strict$/);
    expect(refresh).toMatch(
      /^c_refreshToken=[^;]+; Max-Age=63072000; Path=\/api\/v1\/client; HttpOnly; SameSite=Strict$/,
    );
  });

  test('the cookie refreshes the session, and its token is not in the response', async () => {
    const refresh = (await start()).find((cookie) => cookie.startsWith('c_refreshToken')) ?? '';
    const answer = await browser('PATCH', refresh.split(';')[0]);
    expect(await answer.json()).toEqual({ accessToken: expect.any(String), refreshToken: '', tokenType: 'Bearer' });
    expect(cookies(answer).some((cookie) => /^c_refreshToken=.{60,}HttpOnly/.test(cookie))).toBe(true);
  });

  test('without "stay signed in" cookies are session cookies', async () => {
    const brief = 'c_untilClosed=1';
    const first = await start(brief);
    const refresh = first.find((cookie) => cookie.startsWith('c_refreshToken'))?.split(';')[0];
    const next = cookies(await browser('PATCH', `${brief}; ${refresh}`));
    for (const cookies of [first, next]) {
      expect(cookies).toHaveLength(3);
      expect(cookies.filter((cookie) => cookie.includes('Max-Age') || cookie.includes('Expires'))).toEqual([]);
    }
  });

  test('no cookie authorizes a call', async () => {
    const all = (await start()).map((cookie) => cookie.split(';')[0]).join('; ');
    const answer = await fetch(`${app.url}/api/v1/client/zones`, { headers: { cookie: all } });
    expect(answer.status).toBe(401);
  });

  test('behind TLS the cookies are secure', async () => {
    const secure = await testApp({ PUBLIC_URL: 'https://console.example.com' });
    try {
      const { clientId } = await secure.build.client();
      const email = `${unique('tls')}@example.com`;
      await secure.installation.db.account.create({
        data: { kind: 'client', email, name: 'x', passwordHash, isRoot: true, clientId, login2faType: 2 },
      });
      const post = (name: string, body: object) =>
        fetch(`${secure.url}/api/v1/client/${name}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      const { onePassKey, vcode } = await secure
        .as({ kind: 'client', token: null })
        .call(session.login, { body: { email, password } });
      const answer = await post('code', { email, onePassKey, vcode });
      expect(cookies(answer)).toHaveLength(3);
      expect(cookies(answer).every((cookie) => cookie.includes('; Secure'))).toBe(true);
    } finally {
      await secure.close();
    }
  });
});

describe('the audit log', () => {
  test('has a row for every write and every sign-in, including failed ones', async () => {
    const { client } = await app.build.client();
    const call = app.as(client).call;
    const name = unique('zone');
    await call(zones.create, { body: { name } });
    await expect(call(zones.create, { body: { name } })).toFail('ZONE_NAME_TAKEN');
    await call(zones.list);
    const rows = await db.auditRow.findMany({ where: { accountId: client.id }, orderBy: { at: 'asc' } });
    expect(rows).toMatchObject([
      {
        method: 'POST',
        path: '/api/v1/client/zone',
        status: 200,
        email: client.email,
        clientId: client.clientId,
        address: '127.0.0.1',
      },
      { method: 'POST', path: '/api/v1/client/zone', status: 409 },
    ]);
  });

  test('names the claimed account of a failed sign-in', async () => {
    const email = `${unique('nobody')}@example.com`;
    await expect(anyone(session.login, { body: { email, password } })).toFail('CREDENTIAL_REFUSED');
    expect(await db.auditRow.findMany({ where: { email } })).toMatchObject([
      { path: '/api/v1/client/login', status: 401, accountId: null },
    ]);
  });
});
