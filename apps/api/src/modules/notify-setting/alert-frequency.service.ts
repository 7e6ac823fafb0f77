// How often the channels of an operator and its customers repeat a kind of alert.
import { AlertGrouping, type AlertFrequency } from '@edgeloom/contract/notify-setting/notify-setting.ts';
import type { Ctx } from '../../core/ctx.ts';
import { assertRoot } from './channels.ts';

export async function get(ctx: Ctx): Promise<AlertFrequency> {
  assertRoot(ctx);
  const row = await ctx.db.alertFrequency.findFirst();
  return row ? shown(row) : { intervalMinutes: 0, grouping: 'all' };
}

export async function update(ctx: Ctx, input: AlertFrequency): Promise<AlertFrequency> {
  assertRoot(ctx);
  const { db, actor } = ctx;
  const { clientId } = actor;
  const row = await db.alertFrequency.upsert({ where: { clientId }, update: input, create: { ...input, clientId } });
  return shown(row);
}

const shown = ({ intervalMinutes, grouping }: { intervalMinutes: number; grouping: string }): AlertFrequency => ({
  intervalMinutes,
  grouping: AlertGrouping.parse(grouping),
});
