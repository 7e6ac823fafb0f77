// Rules that channels of alerts share, whatever their type.
import { AlertKind, alertKinds } from '@edgeloom/contract/alerts/alerts.ts';
import { AlertDeliveryError } from '@edgeloom/contract/notify-setting/notify-setting.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { AlertChannel } from '../../generated/client.ts';

/** Channels belong to the whole account: sub-accounts neither see nor change them. */
export function assertRoot({ actor }: Ctx) {
  if (!actor.isRoot) fail('PERMISSION_DENIED');
}

/** The kinds that an account can receive. */
export const kindsFor = ({ actor }: Ctx, kinds: readonly AlertKind[] = AlertKind.options): AlertKind[] =>
  [...new Set(kinds)].filter((kind) => actor.kind === 'client' || alertKinds[kind].isOfSite);

/** Fields that each type of channel shows. Kinds of a newer version are left out. */
export const shownState = ({ enabled, kinds, lastError, failedAt }: AlertChannel) => ({
  enabled,
  events: kinds.flatMap((kind) => AlertKind.safeParse(kind).data ?? []),
  lastError: AlertDeliveryError.nullable().catch('connection').parse(lastError),
  failedAt,
});

/**
 * A channel that is turned off or on sends nothing that began before: a pass (raise-alerts.job.ts) that read the
 * channel while it was on may store a message after it was turned off. Resent deliveries are kept. After any change but
 * turning off, what is pending is tried at once.
 *
 * The channel's row must be changed before: that waits for a pass that stores notices.
 */
export async function settleMessages(tx: ScopedTx, before: { enabled: boolean }, after: AlertChannel, now: Date) {
  const pending = { channelId: after.id, isPending: true };
  if (before.enabled !== after.enabled) {
    await tx.alertNotice.deleteMany({ where: { channelId: after.id, messageId: null } });
    await tx.alertMessage.deleteMany({ where: { ...pending, sentAt: null, failedAt: null } });
  }
  const isTurnedOff = before.enabled && !after.enabled;
  await tx.alertMessage.updateMany({ where: pending, data: isTurnedOff ? { isPending: false } : { dueAt: now } });
}
