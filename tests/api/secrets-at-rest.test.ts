// Secrets are not stored in plain text: neither in their row, nor in the audit log, nor in queued mails.
import { afterAll, expect, test } from 'vitest';
import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { apiTokens, login2fa, mailedTokens, proxy, session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { emailSetting } from '@edgeloom/contract/email-setting/email-setting.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { secretIn, totpCode } from '../support/fakes/authenticator-app.ts';
import { testApp } from '../support/services/app.ts';
import { createAuthority } from '../support/builders/certificate-authority.ts';
import { unique } from '../support/builders/build.ts';
import { mailTo, tokenIn } from '../support/assertions/mailbox.ts';
import { password, passwordAccounts } from '../support/builders/password-accounts.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { as, build, installation } = app;
const { pool } = installation;
const { anyone, as: asToken, createAccount, signIn } = passwordAccounts(app);
afterAll(() => app.close());

/** Tables that contain one of the texts. */
async function tablesWith(texts: readonly string[]): Promise<string[]> {
  const tables = await pool.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
  );
  expect(tables.rows.length).toBeGreaterThan(40);
  const found: string[] = [];
  for (const { name } of tables.rows) {
    const query = `SELECT given.text FROM unnest($1::text[]) given(text)
       WHERE EXISTS (SELECT FROM ${name} t WHERE strpos(t::text, given.text) > 0)`;
    const { rows } = await pool.query<{ text: string }>(query, [[...texts]]);
    found.push(...rows.map(({ text }) => `${name}: ${text.slice(0, 12)}…`));
  }
  return found;
}

test('passwords, tokens, links, codes and keys are hashed or encrypted, and masked in the audit log', async () => {
  const site = await build.site();
  const someone = await createAccount({ clientId: site.clientId });
  const first = await signIn(someone);
  const me = asToken(first.accessToken);

  const next = 'a rather different one';
  await me(session.changePassword, { body: { oldPassword: password, password: next } });
  await expect(me(session.changePassword, { body: { oldPassword: 'wrong but telling', password: next } })).toFail(
    'CREDENTIAL_REFUSED',
  );
  const { verifyToken } = await me(session.verify, { body: { password: next } });
  const started = await anyone()(session.login, { body: { email: someone.email, password: next } });
  const second = await anyone()(session.refresh, { body: { refreshToken: first.refreshToken } });

  const { onePassKey } = await me(login2fa.phase0, { body: { password: next } });
  const { qrCodeData } = await me(login2fa.phase1, { body: { onePassKey } });
  const secret = secretIn(qrCodeData);
  const vcode = totpCode(secret);
  const { recoveryCodes } = await me(login2fa.phase2, { body: { onePassKey, vcode } });

  await anyone()(session.forgot, { body: { email: someone.email } });
  const link = tokenIn(await mailTo(app.mailDir, someone.email, /token=/));
  const invited = `${unique('invited')}@example.com`;
  await me(accounts.create, { body: { email: invited, name: unique('invited'), auth: 'user' } });
  const invitation = tokenIn(await mailTo(app.mailDir, invited, /token=/));
  const chosen = 'chosen by whoever was invited';
  await anyone()(mailedTokens.register, { body: { token: invitation, password: chosen } });

  const token = await me(apiTokens.create, { body: { name: 'x', permissions: ['site:read'] } });
  const acting = await me(proxy.start, { body: { accountID: site.owner.id } });
  const { joinToken } = await as(site.client).call(nodes.create, {
    body: { zoneID: site.zoneId, name: unique('node'), ip: '192.0.2.9' },
  });
  const { chainPem, keyPem } = await (await createAuthority()).issue(['www.example.com']);
  const pem = { source: 'pem' as const, sslName: 'shop', chainPem, keyPem };
  await as(site.owner).call(certificates.create, { params: site.params, body: pem });
  const mailPassword = 'of the mail server';
  const server = { enabled: true, host: 'mail.invalid', port: 465, security: 'tls' as const, username: 'mailer' };
  const body = { ...server, password: mailPassword, fromName: 'x', fromAddress: 'x@example.com' };
  await expect(as(site.client).call(emailSetting.update, { body })).toFail('ILLEGAL_EMAIL_SETTINGS');

  const secrets = [password, next, 'wrong but telling', chosen, mailPassword];
  const tokens = [first, second, acting].flatMap(({ accessToken, refreshToken }) => [accessToken, refreshToken]);
  const single = [started.onePassKey, verifyToken, onePassKey, secret, ...recoveryCodes, link, invitation];
  const keys = [token.refreshToken, acting.code, joinToken, keyPem.split('\n')[1] ?? ''];
  const all = [...secrets, ...tokens, ...single, ...keys];
  expect(all.filter((text) => text.length < 12)).toEqual([]);
  expect(await tablesWith(all)).toEqual([]);
  // Proves that the search works.
  expect(await tablesWith([someone.email])).toContain(`accounts: ${someone.email.slice(0, 12)}…`);
});
