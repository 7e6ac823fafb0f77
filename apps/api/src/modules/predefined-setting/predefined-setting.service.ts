import { CopiedSetting } from '@edgeloom/contract/copies/copies.ts';
import type { PredefinedSetting } from '@edgeloom/contract/predefined-setting/predefined-setting.ts';
import { assertAllZones } from '../../core/all-zones.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt, Failure } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { assertMayCopy, copyParts } from '../copies/copy-settings.service.ts';

interface StoredSetting {
  siteId: string;
  settings: string[];
}

/** Leaves out names of later versions. */
const settingOf = (row: StoredSetting | null): PredefinedSetting => ({
  siteID: row?.siteId ?? null,
  settings: CopiedSetting.options.filter((name) => row?.settings.includes(name)),
});

export const get = async ({ db }: Ctx) => settingOf(await db.predefinedSetting.findFirst());

export async function update(ctx: Ctx, { siteID, settings }: PredefinedSetting) {
  const { db, actor } = ctx;
  const { clientId } = actor;
  const template = siteID === null ? null : await readTemplate(ctx, siteID);
  await assertAllZones(ctx);
  if (template === null) {
    await db.predefinedSetting.deleteMany();
    return settingOf(null);
  }
  assertMayCopy(actor, settings);
  // The customer would decide the settings of other customers' sites.
  if (template.ownerId !== null) failAt('siteID', 'forbidden', 'this site belongs to a customer');
  const data = { siteId: template.id, settings };
  return db.$transaction(async (tx) =>
    settingOf(await tx.predefinedSetting.upsert({ where: { clientId }, update: data, create: { ...data, clientId } })),
  );
}

const readTemplate = async ({ db }: Ctx, id: string) =>
  (await db.site.findUnique({ where: { id }, select: { id: true, ownerId: true } })) ?? fail('NOT_FOUND');

/** A customer's site is no template, so new sites would lose the chosen settings. */
export async function assertNoTemplate(tx: ScopedTx, siteId: string): Promise<void> {
  if ((await tx.predefinedSetting.count({ where: { siteId } })) > 0)
    failAt('userID', 'inUse', 'this site is the template of new sites');
}

/**
 * A new site keeps the usual defaults where its creator does not see the template, where a customer has become the
 * template's owner, and for parts that are too large to copy.
 */
export async function copyTemplateSettings({ log }: Pick<Ctx, 'log'>, tx: ScopedTx, newSiteId: string): Promise<void> {
  const { siteID, settings } = settingOf(await tx.predefinedSetting.findFirst());
  if (siteID === null) return;
  if ((await tx.site.count({ where: { id: siteID, ownerId: null } })) === 0)
    return log.warn({ template: siteID, site: newSiteId }, 'the template was not copied to the new site');
  for (const name of settings)
    await copyParts(tx, siteID, [newSiteId], [name]).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
      log.warn({ err: error, template: siteID, setting: name }, 'a template setting was not copied to the new site');
    });
}
