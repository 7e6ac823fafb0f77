import { afterAll, describe, expect, test } from 'vitest';
import { passkeys, session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { testApp } from '../support/services/app.ts';
import { mailTo } from '../support/assertions/mailbox.ts';
import { passkeyDevice, type AuthenticatorOptions } from '../support/fakes/authenticator.ts';
import { password, passwordAccounts, type AccountOptions } from '../support/builders/password-accounts.ts';
import '../support/assertions/matchers.ts';

const home = { rpID: 'console.example.com', origin: 'https://console.example.com' };
const app = await testApp({ PUBLIC_URL: home.origin, ADMIN_URL: 'https://admin.console.example.com' });
const { db } = app.installation;
const { anyone, as, createAccount, signIn } = passwordAccounts(app);
afterAll(() => app.close());

async function withPasskey(wish: AccountOptions = {}, at: Partial<AuthenticatorOptions> = {}) {
  const someone = await createAccount(wish);
  const call = as((await signIn({ ...someone })).accessToken);
  const device = passkeyDevice({ ...home, ...at });
  const { verifyToken } = await call(session.verify, { body: { password } });
  const { challengeID, options } = await call(passkeys.options, { body: { verifyToken } });
  const sent = { verifyToken, challengeID, name: 'My phone', response: device.register(options) };
  return { someone, call, device, verifyToken, sent, passkey: await call(passkeys.register, { body: sent }) };
}
const challenge = (onePassKey?: string) =>
  anyone()(passkeys.loginOptions, { body: onePassKey === undefined ? {} : { onePassKey } });

describe('a passkey', () => {
  test('signs in alone, and is listed with its last use', async () => {
    const { device, call, someone } = await withPasskey();
    const { challengeID, options } = await challenge();
    expect(options).toMatchObject({ rpId: home.rpID, userVerification: 'required' });
    const body = { challengeID, response: device.sign(options) };
    const { accessToken } = await anyone()(passkeys.login, { body });
    expect(await as(accessToken)(session.self)).toHaveProperty('email', someone.email);
    const { data } = await call(passkeys.list);
    expect(data).toMatchObject([{ name: 'My phone', backedUp: false, lastUsedAt: expect.any(String) }]);
    await mailTo(app.mailDir, someone.email, /passkey was added/i);
  });

  test('signs a challenge once; a replay is rejected', async () => {
    const { device } = await withPasskey();
    const { challengeID, options } = await challenge();
    const body = { challengeID, response: device.sign(options) };
    await anyone()(passkeys.login, { body });
    await expect(anyone()(passkeys.login, { body })).toFail('CREDENTIAL_REFUSED');
    const other = await challenge();
    await expect(anyone()(passkeys.login, { body: { ...body, challengeID: other.challengeID } })).toFail(
      'CREDENTIAL_REFUSED',
    );
  });

  test('replaces the code after a password, for its own account only', async () => {
    const mine = await withPasskey({ login2faType: 2 });
    const theirs = await withPasskey();
    await db.account.update({ where: { id: mine.someone.id }, data: { login2faType: 0 } });
    const { email } = mine.someone;
    const { onePassKey, passkey } = await anyone()(session.login, { body: { email, password } });
    expect(passkey).toBe(true);
    const foreign = await challenge(onePassKey);
    expect(foreign.options).toMatchObject({ allowCredentials: [expect.any(Object)] });
    await expect(
      anyone()(passkeys.login, {
        body: { onePassKey, challengeID: foreign.challengeID, response: theirs.device.sign(foreign.options) },
      }),
    ).toFail('CREDENTIAL_REFUSED');
    const { challengeID, options } = await challenge(onePassKey);
    const body = { onePassKey, challengeID, response: mine.device.sign(options) };
    const { accessToken } = await anyone()(passkeys.login, { body });
    expect(await as(accessToken)(session.self)).toHaveProperty('email', email);
    await expect(challenge(onePassKey)).toFail('CREDENTIAL_REFUSED');
  });

  test('as the only factor requires user verification; as a second factor it does not', async () => {
    const { device, someone } = await withPasskey({}, { verifiesUser: false });
    const alone = await challenge();
    await expect(
      anyone()(passkeys.login, {
        body: { challengeID: alone.challengeID, response: device.sign(alone.options) },
      }),
    ).toFail('CREDENTIAL_REFUSED');
    const { onePassKey } = await anyone()(session.login, { body: { email: someone.email, password } });
    const { challengeID, options } = await challenge(onePassKey);
    const body = { onePassKey, challengeID, response: device.sign(options) };
    expect(await anyone()(passkeys.login, { body })).toHaveProperty('accessToken');
  });

  test('created for another origin is rejected', async () => {
    await expect(withPasskey({}, { origin: 'https://console.example.com.evil.example' })).toFail('CREDENTIAL_REFUSED');
    await expect(withPasskey({}, { rpID: 'evil.example' })).toFail('CREDENTIAL_REFUSED');
  });

  test('with a decreasing counter was cloned, and is rejected', async () => {
    const { device } = await withPasskey();
    const { challengeID, options } = await challenge();
    device.resetCounter();
    await expect(anyone()(passkeys.login, { body: { challengeID, response: device.sign(options) } })).toFail(
      'CREDENTIAL_REFUSED',
    );
  });

  test('is rejected by other consoles, and for a suspended account', async () => {
    const { device, someone } = await withPasskey();
    const user = anyone('user');
    const there = await user(passkeys.loginOptions, { body: {} });
    await expect(
      user(passkeys.login, { body: { challengeID: there.challengeID, response: device.sign(there.options) } }),
    ).toFail('CREDENTIAL_REFUSED');
    await db.account.update({ where: { id: someone.id }, data: { status: 'pause' } });
    const { challengeID, options } = await challenge();
    await expect(anyone()(passkeys.login, { body: { challengeID, response: device.sign(options) } })).toFail(
      'ACCOUNT_NOT_ENABLED',
    );
  });

  test('is added and removed after a fresh proof in the same session', async () => {
    const { call, someone, passkey, sent } = await withPasskey();
    const elsewhere = as((await signIn(someone)).accessToken);
    const { verifyToken } = await elsewhere(session.verify, { body: { password } });
    for (const bad of [verifyToken, 'x', `${Math.floor(Date.now() / 1000) + 999_999}.${verifyToken.split('.')[1]}`]) {
      await expect(call(passkeys.options, { body: { verifyToken: bad } })).toFail('CREDENTIAL_REFUSED');
      await expect(call(passkeys.remove, { body: { ids: [passkey.id], verifyToken: bad } })).toFail(
        'CREDENTIAL_REFUSED',
      );
    }
    // A challenge can be used once.
    await expect(call(passkeys.register, { body: sent })).toFail('CREDENTIAL_REFUSED');
    await elsewhere(passkeys.remove, { body: { ids: [passkey.id], verifyToken } });
    expect(await call(passkeys.list)).toEqual({ data: [], total: 0 });
    await mailTo(app.mailDir, someone.email, /passkey was removed/i);
  });

  test('of another account is not found, and stays', async () => {
    const [mine, theirs] = [await withPasskey(), await withPasskey()];
    const ids = [mine.passkey.id, theirs.passkey.id];
    await expect(mine.call(passkeys.remove, { body: { ids, verifyToken: mine.verifyToken } })).toFail('NOT_FOUND');
    expect(await theirs.call(passkeys.list)).toMatchObject({ total: 1 });
    expect(await mine.call(passkeys.list)).toMatchObject({ total: 1 });
  });
});
