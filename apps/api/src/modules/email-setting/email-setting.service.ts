// The mail server of a client. Settings are tested before they are stored; the password is never returned.
import {
  MailSecurity,
  type EmailSetting,
  type EmailSettingInput,
} from '@edgeloom/contract/email-setting/email-setting.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { write } from '../../core/mail/letters.ts';
import { mailFault, mailPasswordContext, sendBy, verifyServer, type MailServer } from '../../core/mail/own-server.ts';
import type { EmailSetting as Row } from '../../generated/client.ts';

export async function get(ctx: Ctx): Promise<EmailSetting | null> {
  assertRoot(ctx);
  const row = await ctx.db.emailSetting.findFirst();
  return row && shown(row);
}

export async function update(ctx: Ctx, input: EmailSettingInput): Promise<EmailSetting> {
  const { db, actor, installation } = ctx;
  const { clientId } = actor;
  const { password, server } = await serverIn(ctx, input);
  // A disabled server need not exist yet.
  if (input.enabled) await tried(verifyServer(server, installation.env));
  const sealed = password === null ? null : installation.secrets.seal(password, mailPasswordContext(clientId));
  const { enabled, host, port, security, username, fromName, fromAddress } = input;
  const fields = { enabled, host, port, security, username, fromName, fromAddress };
  const data = { ...fields, passwordSealed: sealed, lastError: null, failedAt: null };
  const row = await db.emailSetting.upsert({ where: { clientId }, create: { ...data, clientId }, update: data });
  return shown(row);
}

/** Sends a test mail to the caller with the settings of the form, without storing them. */
export async function test(ctx: Ctx, input: EmailSettingInput): Promise<void> {
  const { server } = await serverIn(ctx, input);
  const { email, language } = await ctx.db.account.findUniqueOrThrow({ where: { id: ctx.actor.id } });
  await tried(sendBy(server, ctx.installation.env, write(email, language, 'mailTest', { host: server.host })));
}

async function serverIn(ctx: Ctx, input: EmailSettingInput): Promise<{ password: string | null; server: MailServer }> {
  assertRoot(ctx);
  const before = await ctx.db.emailSetting.findFirst();
  const password = input.username === '' ? null : (input.password ?? storedPassword(ctx, before, input));
  return { password, server: { ...input, password } };
}

/** The stored password is reused only for the same server and security; any other needs it again. */
function storedPassword({ installation: { secrets } }: Ctx, before: Row | null, input: EmailSettingInput): string {
  const isSame = (['host', 'port', 'security', 'username'] as const).every((name) => before?.[name] === input[name]);
  if (!isSame || !before || before.passwordSealed === null) return failAt('password', 'required', 'required');
  return secrets.open(before.passwordSealed, mailPasswordContext(before.clientId));
}

const tried = (work: Promise<void>) =>
  work.catch((error: unknown) => fail('ILLEGAL_EMAIL_SETTINGS', { errorData: [mailFault(error)], cause: error }));

/** The mail server is a setting of the whole client: sub-accounts neither see nor change it. */
function assertRoot({ actor }: Ctx) {
  if (!actor.isRoot) fail('PERMISSION_DENIED');
}

const shown = ({ passwordSealed, security, ...row }: Row): EmailSetting => ({
  ...row,
  security: MailSecurity.parse(security),
  hasPassword: passwordSealed !== null,
});
