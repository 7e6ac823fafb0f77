// How often the channels of an operator and its customers repeat a kind of alert.
import { AlertGrouping, type AlertFrequency } from '@edgeloom/contract/notify-setting/notify-setting.ts';
import type { Ctx } from '../../core/ctx.ts';

export async function get({ db }: Ctx): Promise<AlertFrequency> {
  const row = await db.alertFrequency.findFirst();
  return row ? shown(row) : { intervalMinutes: 0, grouping: 'all' };
}

export async function update({ db, actor: { clientId } }: Ctx, input: AlertFrequency): Promise<AlertFrequency> {
  const row = await db.alertFrequency.upsert({ where: { clientId }, update: input, create: { ...input, clientId } });
  return shown(row);
}

const shown = ({ intervalMinutes, grouping }: { intervalMinutes: number; grouping: string }): AlertFrequency => ({
  intervalMinutes,
  grouping: AlertGrouping.parse(grouping),
});
