// Webhooks of an operator: channels of alerts that are signed requests. The key is shown once. Sub-accounts cannot
// find them (owners.ts).
import { randomUUIDv7 } from 'node:crypto';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import {
  RETRY_HOURS,
  type Webhook,
  type WebhookDelivery,
  type WebhookInput,
} from '@edgeloom/contract/webhooks/webhooks.ts';
import { AlertDeliveryError } from '@edgeloom/contract/notify-setting/notify-setting.ts';
import { newWebhookSecret } from '../../alerts/webhook.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { lockAccount } from '../../core/document-weight.ts';
import { fail } from '../../core/fail.ts';
import { pageOf } from '../../core/page.ts';
import { assertPermittedUrl } from '../../core/permitted-url.ts';
import { contexts } from '../../core/secrets.ts';
import type { AlertChannel, AlertMessage } from '../../generated/client.ts';
import { assertRoot, kindsFor, settleMessages, shownState } from '../notify-setting/channels.ts';

const type = 'webhook';

export async function list(ctx: Ctx, query: Paging<'createdAt' | 'updatedAt' | 'name'>) {
  assertRoot(ctx);
  const [rows, total] = await Promise.all([
    ctx.db.alertChannel.findMany({ where: { type }, ...pageOf(query) }),
    ctx.db.alertChannel.count({ where: { type } }),
  ]);
  return { data: rows.map(shown), total };
}

export async function create(ctx: Ctx, input: WebhookInput): Promise<Webhook & { secret: string }> {
  assertRoot(ctx);
  assertPermittedUrl(ctx.installation.env, input.url);
  const { actor, installation } = ctx;
  const [id, secret] = [randomUUIDv7(), newWebhookSecret()];
  const secretSealed = installation.secrets.seal(secret, contexts.alertChannel(id));
  const work = ctx.db.$transaction(async (tx) => {
    await tx.$license.assertBelow('webhooks', actor.id);
    const owner = { accountId: actor.id, clientId: actor.clientId };
    return tx.alertChannel.create({ data: { ...owner, id, type, secretSealed, ...columnsOf(ctx, input) } });
  });
  return { ...shown(await orFail('DUPLICATED', work)), secret };
}

export async function update(ctx: Ctx, { id, ...input }: WebhookInput & { id: string }): Promise<Webhook> {
  assertPermittedUrl(ctx.installation.env, input.url);
  const work = ctx.db.$transaction(async (tx) => {
    await lockAccount(tx, ctx.actor);
    const before = (await tx.alertChannel.findFirst({ where: { id, type } })) ?? fail('NOT_FOUND');
    const data = { ...columnsOf(ctx, input), lastError: null, failedAt: null };
    const after = await tx.alertChannel.update({ where: { id }, data });
    await settleMessages(tx, before, after, ctx.now());
    return after;
  });
  return shown(await orFail('DUPLICATED', work));
}

export const remove = (ctx: Ctx, ids: string[]) =>
  ctx.db.$transaction(async (tx) => {
    const { count } = await tx.alertChannel.deleteMany({ where: { type, id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

export async function deliveries(ctx: Ctx, channelId: string, query: Paging<'createdAt'>) {
  await own(ctx, channelId);
  const [rows, total] = await Promise.all([
    ctx.db.alertMessage.findMany({ where: { channelId }, omit: contents, ...pageOf(query) }),
    ctx.db.alertMessage.count({ where: { channelId } }),
  ]);
  return { data: rows.map(deliveryOf), total };
}

/** Ids stay, so that a receiver recognizes repetitions. Messages that are still pending are left as they are. */
export async function resend(ctx: Ctx, channelId: string, ids: string[]) {
  await own(ctx, channelId);
  const [dueAt, expiresAt] = [ctx.now(), new Date(ctx.now().getTime() + RETRY_HOURS * 3_600_000)];
  return ctx.db.$transaction(async (tx) => {
    const chosen = { channelId, id: { in: ids } };
    if ((await tx.alertMessage.count({ where: chosen })) !== new Set(ids).size) fail('NOT_FOUND');
    const data = { isPending: true, dueAt, expiresAt, tries: 0, refusals: 0, lastError: null };
    await tx.alertMessage.updateMany({ where: { ...chosen, isPending: false }, data });
    return { ids };
  });
}

/** Up to 300 KB of each message, which the list does not show. */
const contents = { events: true, text: true } as const;

const own = async ({ db }: Ctx, id: string) =>
  (await db.alertChannel.findFirst({ where: { id, type } })) ?? fail('NOT_FOUND');

const columnsOf = (ctx: Ctx, { name, url, enabled, events }: WebhookInput) => ({
  name,
  enabled,
  address: url,
  kinds: kindsFor(ctx, events),
});

const shown = (row: AlertChannel): Webhook => ({
  ...shownState(row),
  id: row.id,
  name: row.name,
  url: row.address,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

const deliveryOf = (row: Omit<AlertMessage, keyof typeof contents>): WebhookDelivery => ({
  id: row.id,
  eventCount: row.eventCount,
  tries: row.tries,
  sentAt: row.sentAt,
  failedAt: row.failedAt,
  nextTryAt: row.isPending ? row.dueAt : null,
  lastError: AlertDeliveryError.nullable().catch('connection').parse(row.lastError),
  createdAt: row.createdAt,
});
