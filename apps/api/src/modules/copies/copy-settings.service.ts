// Copies settings and short rule lists, which are part of the site's own document.
import type { CopiedSetting, CopySettingsInput } from '@edgeloom/contract/copies/copies.ts';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { aged } from '../../core/rule-list.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { contentOf, lockTargets } from './targets.ts';

interface Setting {
  can: Permission;
  copy: (tx: ScopedTx, siteId: string, targets: readonly string[]) => Promise<unknown>;
}

/** The same rows in the same order for each target. */
const forEach = <Row extends Parameters<typeof contentOf>[0]>(rows: Row[], targets: readonly string[]) =>
  targets.flatMap((siteId) => aged(rows.map((row) => ({ ...contentOf(row), siteId }))));

const settings: Readonly<Record<CopiedSetting, Setting>> = {
  cacheRules: {
    can: 'cache:write',
    async copy(tx, siteId, targets) {
      const rows = await tx.cacheRule.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
      await tx.cacheRule.deleteMany({ where: { siteId: { in: [...targets] } } });
      await tx.cacheRule.createMany({ data: forEach(rows, targets) });
    },
  },
  rates: {
    can: 'cache:write',
    async copy(tx, siteId, targets) {
      const rows = await tx.rate.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
      await tx.rate.deleteMany({ where: { siteId: { in: [...targets] } } });
      await tx.rate.createMany({ data: forEach(rows, targets) });
    },
  },
  errorPages: {
    can: 'module:write',
    async copy(tx, siteId, targets) {
      const rows = await tx.errorPage.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
      await tx.errorPage.deleteMany({ where: { siteId: { in: [...targets] } } });
      await tx.errorPage.createMany({ data: forEach(rows, targets) });
    },
  },
  antiHeaders: {
    can: 'firewall:write',
    async copy(tx, siteId, targets) {
      const rows = await tx.antiHeader.findMany({ where: { siteId, domainId: null }, orderBy: { id: 'asc' } });
      await tx.antiHeader.deleteMany({ where: { siteId: { in: [...targets] }, domainId: null } });
      await tx.antiHeader.createMany({ data: forEach(rows, targets) });
    },
  },
  // Without a row the product's default applies, at the source and at the target.
  cache: {
    can: 'cache:write',
    async copy(tx, siteId, targets) {
      const row = await tx.cacheSetting.findUnique({ where: { siteId } });
      await tx.cacheSetting.deleteMany({ where: { siteId: { in: [...targets] } } });
      if (row) await tx.cacheSetting.createMany({ data: targets.map((target) => ({ ...row, siteId: target })) });
    },
  },
  gzip: {
    can: 'cache:write',
    async copy(tx, siteId, targets) {
      const row = await tx.compression.findUnique({ where: { siteId } });
      await tx.compression.deleteMany({ where: { siteId: { in: [...targets] } } });
      if (row) await tx.compression.createMany({ data: targets.map((target) => ({ ...row, siteId: target })) });
    },
  },
};

export function copySettings({ db, actor }: Ctx, siteId: string, { siteIDs, settings: asked }: CopySettingsInput) {
  const chosen = [...new Set(asked)].map((name) => settings[name]);
  if (!chosen.every(({ can }) => actor.permissions.has(can))) fail('PERMISSION_DENIED');
  return db.$transaction(async (tx) => {
    const targets = await lockTargets(tx, siteId, siteIDs);
    for (const { copy } of chosen)
      await copy(
        tx,
        siteId,
        targets.map(({ id }) => id),
      );
    for (const { id, zoneId } of targets) await changed(tx, zoneId, siteKey(id));
    return { siteIDs };
  });
}
