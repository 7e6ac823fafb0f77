// The fields that the access log of a site leaves out.
import { portKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import type { LogSetting } from '@edgeloom/contract/sites/sites.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';

const select = { maskLogAddress: true, maskLogQuery: true, logSampling: true } as const;
const settingOf = (row: { maskLogAddress: boolean; maskLogQuery: boolean; logSampling: number }): LogSetting => ({
  maskAddress: row.maskLogAddress,
  maskQuery: row.maskLogQuery,
  sampling: row.logSampling,
});

export async function get({ db }: Ctx, id: string): Promise<LogSetting> {
  return settingOf((await db.site.findUnique({ where: { id }, select })) ?? fail('NOT_FOUND'));
}

export const update = (
  { db }: Ctx,
  id: string,
  { maskAddress, maskQuery, sampling }: LogSetting,
): Promise<LogSetting> =>
  db.$transaction(async (tx) => {
    const data = { maskLogAddress: maskAddress, maskLogQuery: maskQuery, logSampling: sampling };
    const { zoneId, portRules, ...row } = await tx.site.update({
      where: { id },
      data,
      select: { ...select, zoneId: true, portRules: { select: { id: true }, where: { enabled: true } } },
    });
    await changed(tx, zoneId, siteKey(id), ...portRules.map((rule) => portKey(rule.id)));
    return settingOf(row);
  });
