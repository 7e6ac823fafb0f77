import * as z from 'zod';
import { CopiedSetting } from '@edgeloom/contract/copies/copies.ts';
import type { PredefinedSetting } from '@edgeloom/contract/predefined-setting/predefined-setting.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { copyParts } from '../copies/copy-settings.service.ts';

const Names = z.array(CopiedSetting);
type Row = { siteId: string; settings: string[] };
const settingOf = (row: Row | null): PredefinedSetting => ({
  siteID: row?.siteId ?? null,
  settings: Names.parse(row?.settings ?? []),
});

export const get = async ({ db }: Ctx) => settingOf(await db.predefinedSetting.findFirst());

export const update = ({ db, actor: { clientId } }: Ctx, { siteID, settings }: PredefinedSetting) =>
  db.$transaction(async (tx) => {
    if (siteID === null) {
      if (settings.length > 0) failAt('siteID', 'required', 'required');
      await tx.predefinedSetting.deleteMany();
      return settingOf(null);
    }
    if ((await tx.site.count({ where: { id: siteID } })) === 0) fail('NOT_FOUND');
    const data = { siteId: siteID, settings };
    return settingOf(
      await tx.predefinedSetting.upsert({ where: { clientId }, update: data, create: { ...data, clientId } }),
    );
  });

/** An account that does not see the template site creates sites with the usual defaults. */
export async function applyPredefined(tx: ScopedTx, siteId: string): Promise<void> {
  const { siteID, settings } = settingOf(await tx.predefinedSetting.findFirst());
  if (siteID === null || (await tx.site.count({ where: { id: siteID } })) === 0) return;
  await copyParts(tx, siteID, [siteId], settings);
}
