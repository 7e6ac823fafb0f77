// The Telegram chat of an account. The bot's token is checked before it is stored, and never returned.
import { randomUUIDv7 } from 'node:crypto';
import { alertKinds } from '@edgeloom/contract/alerts/alerts.ts';
import type {
  AlertDeliveryError,
  TelegramInput,
  TelegramSetting,
  TelegramTest,
} from '@edgeloom/contract/notify-setting/notify-setting.ts';
import { secretOf } from '../../alerts/deliver.ts';
import { DeliveryError } from '../../alerts/delivery-error.ts';
import { checkToken, sendText } from '../../alerts/telegram.ts';
import { wordsIn } from '../../alerts/texts.ts';
import type { Ctx } from '../../core/ctx.ts';
import { lockAccount } from '../../core/document-weight.ts';
import { fail, failAt } from '../../core/fail.ts';
import { contexts } from '../../core/secrets.ts';
import type { AlertChannel } from '../../generated/client.ts';
import { assertRoot, kindsFor, settleMessages, shownState } from './channels.ts';

const own = { type: 'telegram', name: '' } as const;

export async function get(ctx: Ctx): Promise<TelegramSetting> {
  assertRoot(ctx);
  const row = await ctx.db.alertChannel.findFirst({ where: own });
  if (row) return shown(row);
  const events = kindsFor(ctx).filter((kind) => alertKinds[kind].isDefault);
  return { enabled: false, hasToken: false, chatID: '', events, lastError: null, failedAt: null };
}

export async function update(ctx: Ctx, { enabled, token, chatID, events }: TelegramInput): Promise<TelegramSetting> {
  assertRoot(ctx);
  const { actor, installation } = ctx;
  if (token !== undefined) await assertToken(ctx, token);
  if (enabled && chatID === '') failAt('chatID', 'required', 'required');
  const row = await ctx.db.$transaction(async (tx) => {
    // Overlapping calls create one row.
    await lockAccount(tx, actor);
    const before = await tx.alertChannel.findFirst({ where: own });
    const id = before?.id ?? randomUUIDv7();
    if (enabled && token === undefined && !before?.secretSealed) failAt('token', 'required', 'required');
    const data = {
      enabled,
      ...(token !== undefined && { secretSealed: installation.secrets.seal(token, contexts.alertChannel(id)) }),
      address: chatID,
      kinds: kindsFor(ctx, events),
      lastError: null,
      failedAt: null,
    };
    if (before === null)
      return tx.alertChannel.create({ data: { ...own, ...data, id, accountId: actor.id, clientId: actor.clientId } });
    const after = await tx.alertChannel.update({ where: { id }, data });
    await settleMessages(tx, before, after, ctx.now());
    return after;
  });
  return shown(row);
}

/** A token that cannot be checked, because Telegram is not reached, is stored. Messages show the error. */
async function assertToken({ installation: { env }, log }: Ctx, token: string) {
  const error = await errorOf(checkToken(env, token));
  if (error === 'token') fail('ILLEGAL_TELEGRAM_TOKEN', { errorData: [{ path: 'token', rule: 'credential' }] });
  if (error !== null) log.warn({ reason: error }, 'a Telegram token could not be checked');
}

/** Null: it succeeded. */
async function errorOf(call: Promise<void>): Promise<AlertDeliveryError | null> {
  try {
    await call;
    return null;
  } catch (error) {
    if (error instanceof DeliveryError) return error.code;
    throw error;
  }
}

export async function test(ctx: Ctx): Promise<TelegramTest> {
  assertRoot(ctx);
  const { env, secrets } = ctx.installation;
  const row = await ctx.db.alertChannel.findFirst({ where: own });
  if (row === null || row.secretSealed === null) return failAt('token', 'required', 'required');
  if (row.address === '') return failAt('chatID', 'required', 'required');
  const { language } = await ctx.db.account.findUniqueOrThrow({ where: { id: ctx.actor.id } });
  const send = async () => sendText(env, secretOf(secrets, row), row.address, wordsIn(language).test);
  return { error: await errorOf(send()) };
}

const shown = (row: AlertChannel): TelegramSetting => ({
  ...shownState(row),
  hasToken: row.secretSealed !== null,
  chatID: row.address,
});
