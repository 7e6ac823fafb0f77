import { afterAll, describe, expect, test } from 'vitest';
import {
  apiTokens,
  login2fa,
  mailbox,
  mailedTokens,
  ownSessions,
  session,
} from '@edgeloom/contract/auth/auth.endpoints.ts';
import { secretIn, totpCode } from '../support/fakes/authenticator-app.ts';
import { testApp } from '../support/services/app.ts';
import { startMailProcess, sweepSessions } from '../support/services/background-work.ts';
import { unique } from '../support/builders/build.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { codeIn, mailsTo, mailTo, tokenIn } from '../support/assertions/mailbox.ts';
import { password, passwordAccounts } from '../support/builders/password-accounts.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { db } = app.installation;
const { anyone, as, createAccount, signIn } = passwordAccounts(app);
afterAll(() => app.close());

const next = 'a rather different one';
const MINUTE_MS = 60_000;

async function askForReset({ email }: { email: string }) {
  const links = async () => (await mailsTo(app.mailDir, email)).filter(({ text }) => text.includes('token='));
  const before = await links();
  await anyone()(session.forgot, { body: { email } });
  return eventually(async () => {
    const mails = await links();
    const [newest] = mails;
    if (!newest || mails.length === before.length) throw new Error('no mail yet');
    return tokenIn(newest);
  });
}

/** An account with an authenticator. Codes are taken from future steps, so that none is used twice. */
async function withAuthenticator() {
  const someone = await createAccount({ login2faType: 0 });
  await db.account.update({ where: { id: someone.id }, data: { login2faType: 2 } });
  const { accessToken } = await signIn(someone);
  const call = as(accessToken);
  const { onePassKey } = await call(login2fa.phase0, { body: { password } });
  const { qrCode, qrCodeData } = await call(login2fa.phase1, { body: { onePassKey } });
  const codeAt = (steps: number) => totpCode(secretIn(qrCodeData), Date.now() + steps * 30_000);
  // The previous code is still valid, which leaves the current and next code for the test. At the end of a step it is
  // two steps old, so retry.
  const { recoveryCodes } = await eventually(() => call(login2fa.phase2, { body: { onePassKey, vcode: codeAt(-1) } }));
  return { someone, call, accessToken, recoveryCodes, codeAt, qrCode };
}
const begin = (email: string) => anyone()(session.login, { body: { email, password } });

describe('a forgotten password', () => {
  test('is replaced through a mailed link, which works once and ends every session', async () => {
    const someone = await createAccount();
    const { accessToken } = await signIn(someone);
    const token = await askForReset(someone);
    expect(await anyone()(mailedTokens.check, { body: { token } })).toEqual({
      email: someone.email,
      auth: 'client',
      purpose: 'reset',
    });
    await anyone()(mailedTokens.register, { body: { token, password: next } });
    await eventually(() => expect(as(accessToken)(session.self)).toFail('INVALID_TOKEN'));
    await expect(anyone()(mailedTokens.register, { body: { token, password: next } })).toFail('INVALID_TOKEN');
    await expect(anyone()(mailedTokens.check, { body: { token } })).toFail('INVALID_TOKEN');
    expect(await signIn(someone, next)).toHaveProperty('accessToken');
    await mailTo(app.mailDir, someone.email, /password was changed/);
  });

  test('gets the same response and takes the same time for unknown accounts', async () => {
    const [{ email }, nobody] = [await createAccount(), `${unique('nobody')}@example.com`];
    const answers = await Promise.all(
      [email, nobody].map((one) =>
        fetch(`${app.url}/api/v1/client/password`, {
          method: 'PATCH',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email: one }),
        }).then(async (answer) => [answer.status, await answer.text()]),
      ),
    );
    expect(answers).toEqual([
      [200, '{}'],
      [200, '{}'],
    ]);
    await mailTo(app.mailDir, email, /new password/i);
    expect(await mailsTo(app.mailDir, nobody)).toEqual([]);
  });

  test('only the newer of two links works, for an hour, and none is stored in plain text', async () => {
    const someone = await createAccount();
    const first = await askForReset(someone);
    const second = await askForReset(someone);
    expect(second).not.toBe(first);
    expect(JSON.stringify(await db.mailedToken.findMany({ where: { accountId: someone.id } }))).not.toContain(second);
    await expect(anyone()(mailedTokens.check, { body: { token: first } })).toFail('INVALID_TOKEN');
    const { expiresAt, createdAt } = await db.mailedToken.findFirstOrThrow({
      where: { accountId: someone.id },
      orderBy: { expiresAt: 'desc' },
    });
    expect(Math.round((expiresAt.getTime() - createdAt.getTime()) / MINUTE_MS)).toBe(60);
    await db.mailedToken.updateMany({ where: { accountId: someone.id }, data: { expiresAt: new Date() } });
    await expect(anyone()(mailedTokens.register, { body: { token: second, password: next } })).toFail('INVALID_TOKEN');
  });

  test('a link used concurrently works once', async () => {
    const someone = await createAccount();
    const token = await askForReset(someone);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, (_, i) =>
        anyone()(mailedTokens.register, { body: { token, password: `${next} ${i}` } }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('requests are rate-limited', async () => {
    const email = `${unique('nobody')}@example.com`;
    for (let i = 0; i < 10; i += 1) await anyone()(session.forgot, { body: { email } }).catch(() => null);
    await expect(anyone()(session.forgot, { body: { email } })).toFail('RATE_LIMITED');
  });

  test('may not be a common one, and the link stays valid', async () => {
    const someone = await createAccount();
    const token = await askForReset(someone);
    const easy = {
      password1: 'common',
      'P@ssword123': 'common',
      qwertyuiop: 'common',
      aaaaaaaaaaaa: 'repeated',
      '            ': 'repeated',
      '123123123123': 'repeated',
      abcdefghijkl: 'sequence',
      edgeloom2026: 'personal',
      [someone.email]: 'personal',
    };
    for (const [bad, rule] of Object.entries(easy))
      await expect(anyone()(mailedTokens.register, { body: { token, password: bad } })).toFail('PARAMETER', {
        errorData: [expect.objectContaining({ path: 'password', rule })],
      });
    await expect(anyone()(mailedTokens.register, { body: { token, password: 'short' } })).toFail('PARAMETER');
    await anyone()(mailedTokens.register, { body: { token, password: next } });
  });
});

describe('changing the own password', () => {
  test('needs the old one, ends other sessions, and keeps this one', async () => {
    const someone = await createAccount();
    const [here, there] = [await signIn(someone), await signIn(someone)];
    await expect(
      as(here.accessToken)(session.changePassword, { body: { oldPassword: 'not this one', password: next } }),
    ).toFail('CREDENTIAL_REFUSED');
    await as(here.accessToken)(session.changePassword, { body: { oldPassword: password, password: next } });
    await eventually(() => expect(as(there.accessToken)(session.self)).toFail('INVALID_TOKEN'));
    await expect(anyone()(session.refresh, { body: { refreshToken: there.refreshToken } })).toFail('REFRESH_FAILED');
    expect(await as(here.accessToken)(session.self)).toHaveProperty('email', someone.email);
    await expect(signIn(someone)).toFail('CREDENTIAL_REFUSED');
  });

  test('locks the session for a while after ten wrong attempts', async () => {
    const someone = await createAccount();
    const { accessToken } = await signIn(someone);
    for (let i = 0; i < 10; i += 1)
      await expect(as(accessToken)(session.verify, { body: { password: 'a guess' } })).toFail('CREDENTIAL_REFUSED');
    await expect(as(accessToken)(session.verify, { body: { password } })).toFail('RATE_LIMITED');
  });
});

describe('an authenticator', () => {
  test('is set up in three steps, and its code is required from then on', async () => {
    const { someone, call, codeAt, qrCode } = await withAuthenticator();
    expect(qrCode).toMatch(/^data:image\/png;base64,/);
    expect(await call(login2fa.state)).toEqual({ login2FAType: 1, recoveryCodes: 10, passkeys: 0 });
    const { login2FAType, onePassKey, vcode } = await begin(someone.email);
    expect([login2FAType, vcode]).toEqual([1, undefined]);
    await expect(anyone()(session.code, { body: { email: someone.email, onePassKey, vcode: '000000' } })).toFail(
      'CREDENTIAL_REFUSED',
    );
    expect(
      await anyone()(session.code, { body: { email: someone.email, onePassKey, vcode: codeAt(0) } }),
    ).toHaveProperty('accessToken');
  });

  test('accepts a code once, even concurrently, and no earlier one afterwards', async () => {
    const { someone, codeAt } = await withAuthenticator();
    const { email } = someone;
    const started = await Promise.all([begin(email), begin(email), begin(email)]);
    const vcode = codeAt(1);
    const outcomes = await Promise.allSettled(
      started.map(({ onePassKey }) => anyone()(session.code, { body: { email, onePassKey, vcode } })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { onePassKey } = await begin(email);
    await expect(anyone()(session.code, { body: { email, onePassKey, vcode: codeAt(0) } })).toFail(
      'CREDENTIAL_REFUSED',
    );
  });

  test('is replaced by ten recovery codes, once each, with a notification mail', async () => {
    const { someone, recoveryCodes, call } = await withAuthenticator();
    const { email } = someone;
    expect(new Set(recoveryCodes).size).toBe(10);
    const [code = ''] = recoveryCodes;
    const use = async (vcode: string) => {
      const { onePassKey } = await begin(email);
      return anyone()(session.code, { body: { email, onePassKey, vcode } });
    };
    expect(await use(code.toLowerCase().replaceAll('-', ' '))).toHaveProperty('accessToken');
    await expect(use(code)).toFail('CREDENTIAL_REFUSED');
    await mailTo(app.mailDir, email, /recovery code was used/);
    expect(await call(login2fa.state)).toMatchObject({ recoveryCodes: 9 });
    const stored = JSON.stringify(await db.recoveryCode.findMany({ where: { accountId: someone.id } }));
    expect(recoveryCodes.filter((one) => stored.includes(one))).toEqual([]);
  });

  test('stores its key encrypted', async () => {
    const { someone } = await withAuthenticator();
    const { secretSealed } = await db.authenticator.findUniqueOrThrow({ where: { accountId: someone.id } });
    expect(secretSealed).toMatch(/^s1\./);
  });

  test('is set up by its own account within five attempts', async () => {
    const [one, other] = [await createAccount(), await createAccount()];
    const [mine, theirs] = [as((await signIn(one)).accessToken), as((await signIn(other)).accessToken)];
    await expect(mine(login2fa.phase0, { body: { password: 'wrong one' } })).toFail('CREDENTIAL_REFUSED');
    const { onePassKey } = await mine(login2fa.phase0, { body: { password } });
    await expect(theirs(login2fa.phase1, { body: { onePassKey } })).toFail('CREDENTIAL_REFUSED');
    const { qrCodeData } = await mine(login2fa.phase1, { body: { onePassKey } });
    const right = totpCode(secretIn(qrCodeData));
    const wrong = right === '000000' ? '000001' : '000000';
    for (let i = 0; i < 5; i += 1)
      await expect(mine(login2fa.phase2, { body: { onePassKey, vcode: wrong } })).toFail('CREDENTIAL_REFUSED');
    await expect(mine(login2fa.phase2, { body: { onePassKey, vcode: right } })).toFail('CREDENTIAL_REFUSED');
    expect(await mine(login2fa.state)).toMatchObject({ login2FAType: 2 });
  });

  test('is disabled by password and code together, and not replaced while enabled', async () => {
    const { call, codeAt, someone } = await withAuthenticator();
    await expect(call(login2fa.phase0, { body: { password } })).toFail('STILL_ENABLED');
    await expect(call(login2fa.turnOff, { body: { password, vcode: '000000' } })).toFail('CREDENTIAL_REFUSED');
    await expect(call(login2fa.turnOff, { body: { password: 'wrong one', vcode: codeAt(0) } })).toFail(
      'CREDENTIAL_REFUSED',
    );
    await call(login2fa.turnOff, { body: { password, vcode: codeAt(0) } });
    expect(await call(login2fa.state)).toEqual({ login2FAType: 0, recoveryCodes: 0, passkeys: 0 });
    await mailTo(app.mailDir, someone.email, /turned off/);
  });

  test('is locked for a while after ten wrong codes, over several sign-ins', async () => {
    const { someone, codeAt, call } = await withAuthenticator();
    for (let i = 0; i < 10; i += 1)
      await expect(call(session.verify, { body: { vcode: '000000' } })).toFail('CREDENTIAL_REFUSED');
    const { onePassKey } = await begin(someone.email);
    await expect(anyone()(session.code, { body: { email: someone.email, onePassKey, vcode: codeAt(0) } })).toFail(
      'RATE_LIMITED',
    );
  });
});

describe('a proof of presence', () => {
  test('by password or code is valid for five minutes', async () => {
    const { call, codeAt } = await withAuthenticator();
    expect(await call(session.verify, { body: { password } })).toEqual({
      verifyToken: expect.any(String),
      expiresIn: 300,
    });
    expect(await call(session.verify, { body: { vcode: codeAt(0) } })).toHaveProperty('verifyToken');
    await expect(call(session.verify, { body: {} })).toFail('PARAMETER');
    await expect(call(session.verify, { body: { password, vcode: codeAt(1) } })).toFail('PARAMETER');
  });
});

describe('the own sessions', () => {
  test('are listed with device and address, and ended one by one', async () => {
    const someone = await createAccount();
    const [here, there] = [await signIn(someone), await signIn(someone)];
    const call = as(here.accessToken);
    const { data, total } = await call(ownSessions.list, { query: { sortBy: 'createdAt', orderBy: 'asc' } });
    expect(total).toBe(2);
    expect(data).toMatchObject([
      { current: true, address: '127.0.0.1', device: 'node' },
      { current: false, address: '127.0.0.1' },
    ]);
    await call(ownSessions.end, { body: { ids: [data[1]?.id ?? ''] } });
    await eventually(() => expect(as(there.accessToken)(session.self)).toFail('INVALID_TOKEN'));
    expect(await call(ownSessions.list)).toMatchObject({ total: 1 });
  });

  test('of another account are not found, and the call is atomic', async () => {
    const [one, other] = [await createAccount(), await createAccount()];
    const [mine, theirs] = [await signIn(one), await signIn(other)];
    const { data } = await as(theirs.accessToken)(ownSessions.list);
    const own = await as(mine.accessToken)(ownSessions.list);
    const ids = [...own.data, ...data].map(({ id }) => id);
    await expect(as(mine.accessToken)(ownSessions.end, { body: { ids } })).toFail('NOT_FOUND');
    expect(await as(theirs.accessToken)(session.self)).toHaveProperty('email', other.email);
    expect(await as(mine.accessToken)(session.self)).toHaveProperty('email', one.email);
  });

  test('a sign-in from a new device or address is mailed once, unless disabled', async () => {
    const [one, other] = [await createAccount(), await createAccount()];
    await db.account.update({ where: { id: other.id }, data: { loginNotify: false } });
    for (const who of [one, other]) {
      await signIn(who);
      await db.session.updateMany({ where: { accountId: who.id }, data: { device: 'another <b>browser</b>' } });
      await signIn(who);
      await signIn(who);
    }
    await mailTo(app.mailDir, one.email, /new device/);
    await eventually(async () => expect(await db.outgoingMail.count()).toBe(0));
    expect(await mailsTo(app.mailDir, one.email)).toHaveLength(1);
    expect(await mailsTo(app.mailDir, other.email)).toHaveLength(0);
  });
});

describe('mail', () => {
  test('is queued encrypted while the mail server is down, and retried later', async () => {
    const broken = await testApp({ SMTP_URL: 'smtp://127.0.0.1:1' });
    try {
      const { createAccount: make } = passwordAccounts(broken);
      const { email } = await make({ login2faType: 0 });
      await broken.as({ kind: 'client', token: null }).call(session.login, { body: { email, password } });
      const waiting = await eventually(async () => {
        const row = await broken.installation.db.outgoingMail.findFirstOrThrow();
        expect(row.lastError).not.toBeNull();
        return row;
      });
      expect(waiting.tries).toBe(1);
      expect(waiting.dueAt.getTime()).toBeGreaterThan(Date.now() + 20_000);
      expect(waiting.sealed).toMatch(/^s1\./);
    } finally {
      await broken.close();
    }
  });

  test('that is too old is dropped, and the next one is sent', async () => {
    const { mail } = app.installation;
    const { email } = await createAccount();
    const to = { email, language: 'zh-TW', clientId: null };
    await mail.post(db, to, 'code', { code: '111111' }, -1);
    await mail.post(db, to, 'code', { code: '222222' });
    expect(await mailTo(app.mailDir, email)).toMatchObject({ subject: '登入驗證碼' });
    await eventually(async () => expect(await db.outgoingMail.count()).toBe(0));
    expect((await mailsTo(app.mailDir, email)).map(({ text }) => text.includes('222222'))).toEqual([true]);
  });

  test('is sent once by several processes', async () => {
    const { email } = await createAccount();
    const others = [1, 2, 3].map(() => startMailProcess(app.installation));
    const to = { email, language: 'en', clientId: null };
    const codes = Array.from({ length: 30 }, (_, i) => String(100_000 + i));
    for (const code of codes) await app.installation.mail.post(db, to, 'code', { code });
    await eventually(async () => expect(await db.outgoingMail.count()).toBe(0));
    await Promise.all(others.map((other) => other.stop()));
    const sent = (await mailsTo(app.mailDir, email)).map(codeIn);
    expect(sent.toSorted()).toEqual(codes);
  });

  test("is readable by the installation's owner on the admin listener only", async () => {
    const someone = await createAccount();
    await askForReset(someone);
    const admin = await app.build.admin();
    const { data } = await app.as(admin).call(mailbox.list, { query: { orderBy: 'desc' } });
    const mail = data.find(({ to }) => to === someone.email);
    expect(await app.as(admin).call(mailbox.get, { params: { id: mail?.id ?? '' } })).toMatchObject({
      to: someone.email,
      text: expect.stringContaining('token='),
    });
    const answer = await fetch(`${app.url}/api/v1/admin/mailbox`, {
      headers: { authorization: `Bearer ${admin.token}` },
    });
    expect(answer.status).toBe(404);
    const body = { name: 'x', permissions: ['audit:read' as const] };
    const { refreshToken } = await app.as(admin).call(apiTokens.create, { body });
    await expect(app.as({ kind: 'admin', token: refreshToken }).call(mailbox.list)).toFail('PERMISSION_DENIED');
    const parentId = (await app.build.admin()).id;
    await db.account.update({ where: { id: admin.id }, data: { isRoot: false, parentId } });
    await eventually(() => expect(app.as(admin).call(mailbox.list)).toFail('PERMISSION_DENIED'));
  });
});

test('expired data is deleted', async () => {
  const someone = await createAccount();
  await askForReset(someone);
  await db.mailedToken.updateMany({ where: { accountId: someone.id }, data: { expiresAt: new Date(0) } });
  await sweepSessions(app.installation);
  expect(await db.mailedToken.count({ where: { accountId: someone.id } })).toBe(0);
});

describe('a refresh by cookie', () => {
  test('is rejected for a page of another site, and the session continues', async () => {
    const { refreshToken } = await signIn(await createAccount());
    const refresh = async (headers: Record<string, string>) => {
      const answer = await fetch(`${app.url}/api/v1/client`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json', cookie: `c_refreshToken=${refreshToken}`, ...headers },
        body: '{}',
      });
      return answer.status;
    };
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://elsewhere.example' },
      { origin: 'null' },
    ])
      expect(await refresh(headers)).toBe(401);
    expect(await refresh({ 'sec-fetch-site': 'same-origin', origin: app.url })).toBe(200);
  });
});
