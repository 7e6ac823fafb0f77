// Copies settings and short rule lists, which are part of the site's own document.
import type { CopiedSetting, CopySettingsInput } from '@edgeloom/contract/copies/copies.ts';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import type { Area } from '@edgeloom/contract/permissions.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { SiteRuleFeature } from '../../core/site-rule.ts';
import { siteRules } from '../../site-rules.ts';
import { lockTargets } from './targets.ts';

interface Setting extends Pick<SiteRuleFeature, 'copy'> {
  name: CopiedSetting;
  area: Area;
}

const settings: readonly Setting[] = [
  ...siteRules,
  // A site without a cache or compression row has the WITHOUT_ROW of that module, the defaults of old sites. A source
  // without a row therefore leaves its targets without one.
  {
    name: 'cache',
    area: 'cache',
    async copy(tx, siteId, targets) {
      const row = await tx.cacheSetting.findUnique({ where: { siteId } });
      await tx.cacheSetting.deleteMany({ where: { siteId: { in: [...targets] } } });
      if (row) await tx.cacheSetting.createMany({ data: targets.map((target) => ({ ...row, siteId: target })) });
    },
  },
  {
    name: 'gzip',
    area: 'cache',
    async copy(tx, siteId, targets) {
      const row = await tx.compression.findUnique({ where: { siteId } });
      await tx.compression.deleteMany({ where: { siteId: { in: [...targets] } } });
      if (row) await tx.compression.createMany({ data: targets.map((target) => ({ ...row, siteId: target })) });
    },
  },
];

/** Replaces these parts of the target sites. The caller publishes the sites. */
export async function copyParts(
  tx: ScopedTx,
  siteId: string,
  targets: readonly string[],
  names: readonly CopiedSetting[],
): Promise<void> {
  for (const { name, copy } of settings) if (names.includes(name)) await copy(tx, siteId, targets);
}

export function assertMayCopy({ permissions }: Ctx['actor'], names: readonly CopiedSetting[]): void {
  const areas = settings.filter(({ name }) => names.includes(name)).map(({ area }) => area);
  if (!areas.every((area) => permissions.has(`${area}:write`))) fail('PERMISSION_DENIED');
}

export function copySettings({ db, actor }: Ctx, siteId: string, { siteIDs, settings: asked }: CopySettingsInput) {
  assertMayCopy(actor, asked);
  return db.$transaction(async (tx) => {
    const targets = await lockTargets(tx, siteId, siteIDs);
    const ids = targets.map(({ id }) => id);
    await copyParts(tx, siteId, ids, asked);
    for (const { id, zoneId } of targets) await changed(tx, zoneId, siteKey(id));
    return { siteIDs };
  });
}
