import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { emailSetting } from '@edgeloom/contract/email-setting/email-setting.endpoints.ts';
import { permissions } from '@edgeloom/contract/permissions.ts';
import { testApp } from '../support/services/app.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { unique, type Tenant } from '../support/builders/build.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { mailsTo, mailTo } from '../support/assertions/mailbox.ts';
import { startSmtp, type Smtp } from '../support/fakes/mail-server.ts';
import '../support/assertions/matchers.ts';

const app = await testApp({ ORIGIN_ALLOW: '127.0.0.0/8' });
const { as, build, installation } = app;
let smtp: Smtp;
beforeAll(async () => {
  smtp = await startSmtp();
});
afterAll(async () => {
  await app.close();
  await smtp.stop();
});

const settings = (more: Partial<Parameters<typeof set>[1]> = {}) => ({
  enabled: true,
  host: '127.0.0.1',
  port: smtp.port,
  security: 'none' as const,
  username: 'mailer',
  password: 'right',
  fromName: 'Glow',
  fromAddress: 'mail@glow.test',
  ...more,
});
const set = (who: SignedInAccount, body: Body) => as(who).call(emailSetting.update, { body });
type Body = {
  enabled: boolean;
  host: string;
  port: number;
  security: 'tls' | 'starttls' | 'none';
  username: string;
  password?: string;
  fromName: string;
  fromAddress: string;
};
const bare = ({ password: _, ...rest }: Body): Body => rest;

/** Sends a mail as a sign-in of this client does. */
async function post({ clientId }: Pick<Tenant, 'clientId'>) {
  const email = `${unique('reader')}@example.com`;
  await installation.mail.post(installation.db, { email, language: 'en', clientId }, 'code', { code: '135790' });
  return email;
}
const arrived = (at: Smtp, email: string) =>
  eventually(() => at.received.find(({ to }) => to.includes(email)) ?? expect.fail(`no mail to ${email}`));
/** Moves the retry half a minute forward. */
const hurry = () =>
  installation.pool
    .query(`UPDATE outgoing_mails SET due_at = now()`)
    .then(() => installation.pool.query(`NOTIFY mail`));

async function listener(onSocket: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    sockets.push(socket);
    onSocket(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    sockets,
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

test("a client's mails are sent by its own server under its own name; all others by the installation's", async () => {
  const [tenant, other] = [await build.client(), await build.client()];
  await set(tenant.client, settings());
  const [own, theirs] = [await post(tenant), await post(other)];
  const mail = await arrived(smtp, own);
  expect(mail).toMatchObject({ from: 'mail@glow.test', user: 'mailer' });
  expect(mail.text).toMatch(/^From: Glow <mail@glow\.test>/m);
  expect(mail.text).toContain('135790');
  await mailTo(app.mailDir, theirs);
  expect(smtp.received.some(({ to }) => to.includes(theirs))).toBe(false);
  expect((await readdir(app.mailDir)).length).toBe(2);
});

test("when disabled, mails are sent by the installation under the client's branding", async () => {
  const tenant = await build.client();
  await installation.db.branding.create({
    data: { clientId: tenant.clientId, host: `${unique('x')}.example.com`, title: 'Gläw "Select"' },
  });
  await set(tenant.client, settings({ enabled: false, port: 1 }));
  const email = await post(tenant);
  await mailTo(app.mailDir, email);
  const files = (await readdir(app.mailDir)).filter((file) => file.endsWith('.eml'));
  const raws = await Promise.all(files.map((file) => readFile(path.join(app.mailDir, file), 'utf8')));
  expect(raws.find((raw) => raw.includes(email))).toMatch(/^From: =\?UTF-8\?.+\?= <edgeloom@localhost>/m);
});

describe('the password', () => {
  test('is stored encrypted and never returned', async () => {
    const { client, clientId } = await build.client();
    const answers = [await set(client, settings()), await as(client).call(emailSetting.get)];
    for (const answer of answers) expect(answer).toMatchObject({ hasPassword: true, host: '127.0.0.1' });
    expect(JSON.stringify(answers)).not.toContain('right');
    const row = await installation.db.emailSetting.findUniqueOrThrow({ where: { clientId } });
    expect(row.passwordSealed).toMatch(/^s1\./);
  });

  test('is kept with the same server, and required again for another one', async () => {
    const { client } = await build.client();
    await set(client, settings());
    expect(await set(client, bare(settings({ fromName: 'New' })))).toMatchObject({
      fromName: 'New',
      hasPassword: true,
    });
    const changes = [{ host: 'localhost' }, { port: 1 }, { security: 'starttls' as const }, { username: 'other' }];
    for (const change of changes) {
      const refusal = { errorData: [expect.objectContaining({ path: 'password', rule: 'required' })] };
      await expect(set(client, bare(settings(change)))).toFail('PARAMETER', refusal);
      await expect(as(client).call(emailSetting.test, { body: bare(settings(change)) })).toFail('PARAMETER', refusal);
    }
    expect(await set(client, bare(settings({ enabled: false, username: '' })))).toMatchObject({ hasPassword: false });
  });
});

describe('invalid settings are rejected at their field', () => {
  const refused = (path: string, rule: string) => ({ errorData: [expect.objectContaining({ path, rule })] });

  test('a wrong password', async () => {
    const { client } = await build.client();
    await expect(set(client, settings({ password: 'wrong' }))).toFail(
      'ILLEGAL_EMAIL_SETTINGS',
      refused('password', 'credential'),
    );
    expect(await as(client).call(emailSetting.get)).toBeNull();
  });

  test('a closed port', async () => {
    const { client } = await build.client();
    const { port, stop } = await listener(() => undefined);
    stop();
    await expect(set(client, settings({ port }))).toFail('ILLEGAL_EMAIL_SETTINGS', refused('host', 'connection'));
  });

  test('a server without required TLS, and one with an untrusted certificate', async () => {
    const { client } = await build.client();
    const withTls = await startSmtp({ offersTls: true });
    for (const port of [smtp.port, withTls.port])
      await expect(set(client, settings({ port, security: 'starttls' }))).toFail(
        'ILLEGAL_EMAIL_SETTINGS',
        refused('security', 'tls'),
      );
    expect(withTls.received).toEqual([]);
    await withTls.stop();
  });

  test('a sender that the server rejects', async () => {
    const { client } = await build.client();
    const strict = await startSmtp({ refuses: true });
    await expect(as(client).call(emailSetting.test, { body: settings({ port: strict.port }) })).toFail(
      'ILLEGAL_EMAIL_SETTINGS',
      refused('fromAddress', 'sender'),
    );
    await strict.stop();
  });

  test('an internal address without TLS', async () => {
    const { client } = await build.client();
    await expect(set(client, settings({ host: '203.0.113.5' }))).toFail(
      'ILLEGAL_EMAIL_SETTINGS',
      refused('host', 'address'),
    );
  });

  test('line breaks, which could inject a header', async () => {
    const { client } = await build.client();
    for (const bad of [
      { fromName: 'x\r\nBcc: a@example.com' },
      { username: 'a\nb' },
      { fromAddress: 'a@example.com\r\nBcc: b@example.com' },
    ])
      await expect(set(client, settings(bad))).toFail('PARAMETER');
  });
});

test('loopback, private and metadata addresses are not contacted, by number or by name', async () => {
  const strict = await testApp();
  const { client } = await strict.build.client();
  const touched = await listener(() => undefined);
  for (const host of ['127.0.0.1', 'localhost', '10.0.0.1', '169.254.169.254', '::1'])
    await expect(
      strict.as(client).call(emailSetting.update, { body: settings({ host, port: touched.port, security: 'tls' }) }),
    ).toFail('ILLEGAL_EMAIL_SETTINGS', { errorData: [expect.objectContaining({ path: 'host', rule: 'address' })] });
  expect(touched.sockets).toEqual([]);
  touched.stop();
  await strict.close();
});

test('an error does not reveal whether an internal name exists', async () => {
  const strict = await testApp();
  onTestFinished(() => strict.close());
  const { client } = await strict.build.client();
  for (const host of ['localhost', 'missing.invalid'])
    await expect(strict.as(client).call(emailSetting.update, { body: settings({ host, security: 'tls' }) })).toFail(
      'ILLEGAL_EMAIL_SETTINGS',
      {
        errorData: [{ path: 'host', rule: 'address', message: `${host} has no permitted address` }],
      },
    );
});

test("a test mail goes to the caller with the form's settings, and stores nothing", async () => {
  const { client } = await build.client();
  await as(client).call(emailSetting.test, { body: settings() });
  expect((await arrived(smtp, client.email)).to).toEqual([client.email]);
  expect(await as(client).call(emailSetting.get)).toBeNull();
});

test('a server that fails twice is skipped, and its error is shown', async () => {
  const tenant = await build.client();
  const dying = await startSmtp();
  await set(tenant.client, settings({ port: dying.port }));
  await dying.stop();
  const email = await post(tenant);
  const failed = await eventually(async () => {
    const setting = await as(tenant.client).call(emailSetting.get);
    expect(setting?.lastError).toContain('ECONNREFUSED');
    return setting;
  });
  expect(failed?.failedAt).not.toBeNull();
  await eventually(async () => {
    await hurry();
    expect(await mailsTo(app.mailDir, email)).toHaveLength(1);
  });
});

test('an unresponsive server of one tenant does not delay mails of others', async () => {
  const tarpit = await listener(() => undefined);
  const slow = await build.client();
  await set(slow.client, settings({ enabled: false, port: tarpit.port }));
  await installation.db.emailSetting.updateMany({ where: { clientId: slow.clientId }, data: { enabled: true } });
  for (let i = 0; i < 8; i += 1) await post(slow);
  await eventually(() => expect(tarpit.sockets.length).toBeGreaterThan(0));
  await mailTo(app.mailDir, await post(await build.client()));
  expect(tarpit.sockets.length).toBe(1);
  tarpit.stop();
  await installation.db.emailSetting.deleteMany({ where: { clientId: slow.clientId } });
});

test('the settings are readable by the root account of one client only', async () => {
  const [tenant, other] = [await build.client(), await build.client()];
  await set(tenant.client, settings());
  expect(await as(other.client).call(emailSetting.get)).toBeNull();
  const sub = await build.subClient(tenant, [], { permissions: [...permissions] });
  await expect(as(sub).call(emailSetting.get)).toFail('PERMISSION_DENIED');
  await expect(set(sub, settings())).toFail('PERMISSION_DENIED');
  await expect(as(sub).call(emailSetting.test, { body: settings() })).toFail('PERMISSION_DENIED');
});
