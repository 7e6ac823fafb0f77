import type { Difference, RollbackPreview, Version, VersionSearch } from '@edgeloom/contract/versions/versions.ts';
import type { Permission } from '@edgeloom/contract/permissions.ts';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failTogether, faultsByReason } from '../../core/fail.ts';
import { restoreSite, type FoldedRow, type Restored } from '../../core/restore-site.ts';
import * as sites from '../sites/sites.service.ts';
import { defaultsOf } from './defaults.ts';
import { areaOf, camel, differenceOf, isSetting } from './difference.ts';
import {
  between,
  countVersions,
  present,
  readBounds,
  readFolded,
  readVersionChoices,
  readVersions,
} from './versions.queries.ts';

interface AtVersion {
  siteId: string;
  version: number;
}

const may = ({ actor }: Ctx, entity: string, way: 'read' | 'write') => {
  const area = areaOf[entity];
  const permission: Permission | null = area ? `${area}:${way}` : null;
  return permission !== null && actor.permissions.has(permission);
};
const readable = (ctx: Ctx) => Object.keys(areaOf).filter((entity) => may(ctx, entity, 'read'));

export async function list(ctx: Ctx, siteId: string, paging: Paging<'version'>) {
  const [{ total }, rows] = await Promise.all([bounds(ctx, siteId), readVersions(ctx, siteId, paging)]);
  const data = rows.map(({ changes, ...row }): Version => ({
    ...row,
    changes: changes
      .filter(({ entity }) => may(ctx, entity, 'read'))
      .map(({ entity, names, added, changed, removed }) => ({
        kind: camel(entity),
        names,
        ...(isSetting(entity)
          ? { added: 0, changed: added + changed + removed, removed: 0 }
          : { added, changed, removed }),
      })),
  }));
  return { data, total };
}

export async function meta(ctx: Ctx, siteId: string, query: VersionSearch) {
  await bounds(ctx, siteId);
  const [data, total] = await Promise.all([readVersionChoices(ctx, siteId, query), countVersions(ctx, siteId, query)]);
  return { data, total };
}

export async function compare(
  ctx: Ctx,
  { siteId, version }: AtVersion,
  { against: asked, page, pageSize }: { against?: number | undefined; page: number; pageSize: number },
) {
  const { oldest, current } = await bounds(ctx, siteId);
  const against = asked ?? Math.max(version - 1, oldest);
  for (const one of [version, against]) if (one < oldest || one > current) fail('NOT_FOUND');
  const those = between(Math.min(version, against), Math.max(version, against));
  const { rows, total } = await readFolded(ctx, siteId, those, { page, pageSize, entities: readable(ctx) });
  const data = await differences(ctx, against > version ? rows.map(turned) : rows);
  return { version, against, data, total, current, oldest };
}

/** The changes that the calls of a draft have made. */
export async function drafted(ctx: Ctx, siteId: string) {
  const { rows, total } = await readFolded(ctx, siteId, present, { page: 1, pageSize: 200, entities: readable(ctx) });
  return { data: await differences(ctx, rows), total };
}

export async function preview(ctx: Ctx, place: AtVersion): Promise<RollbackPreview> {
  const { rows, total, settled, faults } = await restore(ctx, place, '', true);
  return {
    data: await differences(ctx, rows),
    total,
    settled: settled.map(({ entity, ...one }) => ({ kind: camel(entity), ...one })),
    faults: faultsByReason(faults),
  };
}

export async function rollback(ctx: Ctx, place: AtVersion, reason: string) {
  const { version, total, settled, faults } = await restore(ctx, place, reason, false);
  failTogether(faults);
  return { version, total, settled: settled.map(({ entity, ...one }) => ({ kind: camel(entity), ...one })) };
}

async function restore(ctx: Ctx, { siteId, version }: AtVersion, reason: string, isDryRun: boolean): Promise<Restored> {
  await sites.own(ctx.db, siteId);
  const { oldest, current } = await bounds(ctx, siteId);
  if (version < oldest || version > current) fail('NOT_FOUND');
  return restoreSite(ctx.installation, {
    siteId,
    version,
    reason,
    isDryRun,
    isCustomer: ctx.actor.kind === 'user',
    // A roll-back needs the same permissions as the changes it makes.
    admit: (entities) => {
      if (!entities.every((entity) => may(ctx, entity, 'write'))) fail('PERMISSION_DENIED');
    },
    admitCertificates: () => {
      if (!ctx.actor.permissions.has('certificate:write')) fail('PERMISSION_DENIED');
    },
  });
}

const bounds = async (ctx: Ctx, siteId: string) => (await readBounds(ctx, siteId)) ?? fail('NOT_FOUND');

const turned = ({ before, after, ...row }: FoldedRow): FoldedRow => ({ ...row, before: after, after: before });

async function differences(ctx: Ctx, rows: readonly FoldedRow[]): Promise<Difference[]> {
  const defaults = await defaultsOf(ctx.installation);
  return named(
    ctx,
    rows.map((row) => differenceOf(row, defaults)),
  );
}

const pointers: readonly string[] = ['certificateID', 'originCertificateID', 'moduleID'];

/** Adds the names of the objects that rows refer to by id. */
async function named({ db }: Ctx, rows: Difference[]): Promise<Difference[]> {
  const fields = rows.flatMap((row) => row.fields).filter(({ field }) => pointers.includes(field));
  const ids = fields.flatMap(({ before, after }) => [before, after]).filter((id) => typeof id === 'string');
  if (ids.length === 0) return rows;
  const asked = { where: { id: { in: [...new Set(ids)] } }, select: { id: true, name: true } };
  const [certificates, modules] = await Promise.all([db.certificate.findMany(asked), db.module.findMany(asked)]);
  const names = new Map([...certificates, ...modules].map(({ id, name }) => [id, name]));
  const nameOf = (id: unknown) => (typeof id === 'string' ? (names.get(id) ?? id) : id);
  return rows.map((row) => ({
    ...row,
    fields: row.fields.map((one) =>
      pointers.includes(one.field) ? { ...one, before: nameOf(one.before), after: nameOf(one.after) } : one,
    ),
  }));
}
