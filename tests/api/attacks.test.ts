// Attacks on sign-in.
import { createHmac, randomUUIDv7 } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { accessToken } from '../support/builders/api-clients.ts';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { password, passwordAccounts } from '../support/builders/password-accounts.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { installation } = app;
const { db } = installation;
const { anyone, as, createAccount, signIn } = passwordAccounts(app);
afterAll(() => app.close());

const part = (value: object | string) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const { publicPem } = installation.secrets.sessionKey;

/** Claims of a valid session, for tokens with a wrong signature. */
async function claimsOfSomebody() {
  const { client } = await app.build.client();
  const now = Math.floor(Date.now() / 1000);
  return {
    sub: client.id,
    kind: 'client',
    client: client.clientId,
    session: client.sessionId,
    actor: client.id,
    iat: now,
    exp: now + 900,
  };
}
const signedWith = (key: string, header: object, claims: object) => {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
};

describe('a forged access token', () => {
  test.each(['none', 'None', 'NONE', 'nOnE'])('without a signature (alg %s) is refused', async (alg) => {
    const claims = await claimsOfSomebody();
    for (const token of [`${part({ alg, typ: 'JWT' })}.${part(claims)}.`, `${part({ alg })}.${part(claims)}`])
      await expect(as(token)(session.self)).toFail('INVALID_TOKEN');
  });

  test.each(['HS256', 'HS384', 'HS512'])('whose key is our public one (alg %s) is refused', async (alg) => {
    const claims = await claimsOfSomebody();
    for (const key of [publicPem, publicPem.trim(), publicPem.replace(/-----[^-]+-----|\n/g, ''), ''])
      await expect(as(signedWith(key, { alg, typ: 'JWT' }, claims))(session.self)).toFail('INVALID_TOKEN');
  });

  test.each([
    { kid: '../../../../dev/null' },
    { kid: "x' UNION SELECT 'key' --" },
    { kid: 'http://127.0.0.1/key' },
    { jwk: { kty: 'oct', k: part('key') } },
    { jku: 'http://127.0.0.1/keys.json' },
    { x5u: 'http://127.0.0.1/cert.pem' },
    { crit: ['exp'] },
  ])('that names its own key (%j) is rejected', async (header) => {
    const claims = await claimsOfSomebody();
    for (const alg of ['HS256', 'EdDSA'])
      for (const key of ['', 'key'])
        await expect(as(signedWith(key, { alg, ...header }, claims))(session.self)).toFail('INVALID_TOKEN');
  });

  test('with changed claims under a valid signature is rejected', async () => {
    const claims = await claimsOfSomebody();
    const [head, , signature] = accessToken(installation, claims).split('.');
    const admin = { ...claims, kind: 'admin', client: null };
    await expect(as(`${head}.${part(admin)}.${signature}`)(session.self)).toFail('INVALID_TOKEN');
  });

  test('with our key for a nonexistent session, or another account’s session, is rejected', async () => {
    const [one, other] = [await claimsOfSomebody(), await claimsOfSomebody()];
    for (const claims of [
      { ...one, session: randomUUIDv7() },
      { ...one, session: other.session },
      { ...one, sub: other.sub },
    ])
      await expect(as(accessToken(installation, claims))(session.self)).toFail('INVALID_TOKEN');
  });

  test('that claims another console is rejected', async () => {
    const claims = await claimsOfSomebody();
    const token = accessToken(installation, { ...claims, kind: 'admin' });
    await expect(as(token, 'admin')(session.self)).toFail('PERMISSION_DENIED');
    await expect(as(token, 'user')(session.self)).toFail('PERMISSION_DENIED');
  });

  test('cannot be a refresh token, a one-time key or a proof of presence', async () => {
    const someone = await createAccount();
    const { refreshToken, accessToken: token } = await signIn(someone);
    const { verifyToken } = await as(token)(session.verify, { body: { password } });
    const { onePassKey } = await anyone()(session.login, { body: { email: someone.email, password } });
    for (const other of [refreshToken, verifyToken, onePassKey])
      await expect(as(other)(session.self)).toFail('INVALID_TOKEN');
    await expect(anyone()(session.refresh, { body: { refreshToken: token } })).toFail('REFRESH_FAILED');
    await expect(anyone()(session.refresh, { body: { refreshToken: verifyToken } })).toFail('REFRESH_FAILED');
  });
});

describe('a stolen token', () => {
  test('is useless after the sign-out', async () => {
    const { accessToken: token, refreshToken } = await signIn(await createAccount());
    await as(token)(session.logout);
    await eventually(() => expect(as(token)(session.self)).toFail('INVALID_TOKEN'));
    await expect(anyone()(session.refresh, { body: { refreshToken } })).toFail('REFRESH_FAILED');
  });

  test('ends the session of thief and owner when it is refreshed a second time', async () => {
    const someone = await createAccount();
    const stolen = await signIn(someone);
    const owner = await anyone()(session.refresh, { body: { refreshToken: stolen.refreshToken } });
    const long = new Date(Date.now() - 60_000);
    await db.session.updateMany({ where: { accountId: someone.id }, data: { rotatedAt: long } });
    await expect(anyone()(session.refresh, { body: { refreshToken: stolen.refreshToken } })).toFail('REFRESH_FAILED');
    await expect(anyone()(session.refresh, { body: { refreshToken: owner.refreshToken } })).toFail('REFRESH_FAILED');
    await eventually(() => expect(as(owner.accessToken)(session.self)).toFail('INVALID_TOKEN'));
  });
});

describe('guessing', () => {
  test('a mailed code is limited to five attempts, also concurrently', async () => {
    const { email } = await createAccount({ login2faType: 0 });
    const { onePassKey } = await anyone()(session.login, { body: { email, password } });
    await Promise.allSettled(
      Array.from({ length: 40 }, (_, i) =>
        anyone()(session.code, { body: { email, onePassKey, vcode: String(100_000 + i) } }),
      ),
    );
    const { tries } = await db.loginChallenge.findFirstOrThrow({ where: { account: { email } } });
    expect(tries).toBe(5);
  });

  test('takes the same time for an unknown address, an account without password, and a wrong password', async () => {
    const known = await createAccount();
    const invited = await createAccount();
    await db.account.update({ where: { id: invited.id }, data: { passwordHash: null } });
    const guess = (email: string) =>
      expect(anyone()(session.login, { body: { email, password: 'not the password' } })).toFail('CREDENTIAL_REFUSED');
    // The first sign-in also hashes the dummy password.
    await guess(known.email);
    const tasks = vi.spyOn(Worker.prototype, 'postMessage');
    onTestFinished(() => tasks.mockRestore());
    for (const email of [known.email, invited.email, `${unique('nobody')}@example.com`]) {
      tasks.mockClear();
      await guess(email);
      expect(tasks.mock.calls).toEqual([
        [{ stored: expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/), password: 'not the password' }],
      ]);
    }
  });

  test('gets identical responses for unknown and known addresses', async () => {
    const { email } = await createAccount();
    const ask = async (address: string) => {
      const answer = await fetch(`${app.url}/api/v1/client/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: address, password: 'not the password' }),
      });
      const text = await answer.text();
      const headers = Object.fromEntries(answer.headers);
      for (const name of ['x-request-id', 'date', 'ratelimit']) delete headers[name];
      return [answer.status, text.replace(/"reqID":"[^"]+"/, ''), headers];
    };
    expect(await ask(email)).toEqual(await ask(`${unique('nobody')}@example.com`));
  });
});

describe('another site’s page', () => {
  const cookiesOf = async () => {
    const someone = await createAccount();
    const { onePassKey, vcode } = await anyone()(session.login, { body: { email: someone.email, password } });
    const answer = await fetch(`${app.url}/api/v1/client/code`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: someone.email, onePassKey, vcode }),
    });
    return answer.headers.getSetCookie();
  };

  test('cannot change anything with the browser’s cookies, which authorize no call', async () => {
    const cookie = (await cookiesOf()).map((line) => line.split(';')[0]).join('; ');
    const before = await db.account.count();
    for (const [method, path] of [
      ['PUT', 'account/password'],
      ['POST', 'verify'],
      ['POST', 'login2fa/phase0'],
      ['DELETE', 'sessions'],
      ['DELETE', ''],
      ['GET', 'account/self'],
    ] as const) {
      const answer = await fetch(`${app.url}/api/v1/client${path && `/${path}`}`, {
        method,
        headers: { cookie, ...(method !== 'GET' && { 'content-type': 'application/json' }) },
        ...(method !== 'GET' && { body: '{}' }),
      });
      expect([path, answer.status]).toEqual([path, 401]);
    }
    expect(await db.account.count()).toBe(before);
  });

  test('gets no cookies sent and cannot read responses', async () => {
    const lines = await cookiesOf();
    expect(lines.every((line) => line.includes('SameSite=Strict'))).toBe(true);
    const answer = await fetch(`${app.url}/api/v1/client/login`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('cannot submit a form, because only JSON is accepted', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'text/plain']) {
      const answer = await fetch(`${app.url}/api/v1/client/password`, {
        method: 'PATCH',
        headers: { 'content-type': type },
        body: '{"email":"someone@example.com"}',
      });
      expect(answer.ok).toBe(false);
    }
  });
});
