// The Telegram chat of an account. The bot's token is checked before it is stored, and never returned.
import { randomUUIDv7 } from 'node:crypto';
import { alertKinds } from '@edgeloom/contract/alerts/alerts.ts';
import type { TelegramInput, TelegramSetting, TelegramTest } from '@edgeloom/contract/notify-setting/notify-setting.ts';
import { deliveryError, secretOf } from '../../alerts/deliver.ts';
import { checkToken, isTokenError, sendText } from '../../alerts/telegram.ts';
import { wordsIn } from '../../alerts/texts.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { contexts } from '../../core/secrets.ts';
import type { AlertChannel } from '../../generated/client.ts';
import { assertRoot, dropWaiting, kindsFor, shownState } from './channels.ts';

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
    const before = await tx.alertChannel.findFirst({ where: own });
    const id = before?.id ?? randomUUIDv7();
    const secretSealed =
      token === undefined
        ? (before?.secretSealed ?? null)
        : installation.secrets.seal(token, contexts.alertChannel(id));
    if (enabled && secretSealed === null) failAt('token', 'required', 'required');
    if (!enabled) await dropWaiting(tx, id);
    const data = {
      enabled,
      secretSealed,
      address: chatID,
      kinds: kindsFor(ctx, events),
      lastError: null,
      failedAt: null,
    };
    return before
      ? tx.alertChannel.update({ where: { id }, data })
      : tx.alertChannel.create({ data: { ...own, ...data, id, accountId: actor.id, clientId: actor.clientId } });
  });
  return shown(row);
}

/** A token that cannot be checked, because Telegram is not reached, is stored. Messages show the error. */
async function assertToken({ installation: { env }, log }: Ctx, token: string) {
  try {
    await checkToken(env, token);
  } catch (error) {
    if (isTokenError(error)) fail('ILLEGAL_TELEGRAM_TOKEN', { errorData: [{ path: 'token', rule: 'credential' }] });
    log.warn({ reason: deliveryError(error) }, 'a Telegram token could not be checked');
  }
}

export async function test(ctx: Ctx): Promise<TelegramTest> {
  assertRoot(ctx);
  const { env, secrets } = ctx.installation;
  const row = await ctx.db.alertChannel.findFirst({ where: own });
  if (row === null || row.secretSealed === null) return failAt('token', 'required', 'required');
  if (row.address === '') return failAt('chatID', 'required', 'required');
  const { language } = await ctx.db.account.findUniqueOrThrow({ where: { id: ctx.actor.id } });
  try {
    await sendText(env, secretOf(secrets, row), row.address, wordsIn(language).test);
    return { error: null };
  } catch (error) {
    return { error: deliveryError(error) };
  }
}

const shown = (row: AlertChannel): TelegramSetting => ({
  ...shownState(row),
  hasToken: row.secretSealed !== null,
  chatID: row.address,
});
