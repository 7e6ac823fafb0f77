import type { Paging } from '@edgeloom/contract/common/common.ts';
import {
  brandSlots,
  type Branding,
  type BrandingInput,
  type BrandingUpdate,
  type BrandSlot,
} from '@edgeloom/contract/branding/branding.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { Prisma } from '../../generated/client.ts';
import { brandImage } from './brand-image.ts';
import { pictures, shown } from './shown-branding.ts';

const BRANDINGS_AT_MOST = 50;
const include = { images: pictures } satisfies Prisma.BrandingInclude;

export async function list({ db }: Ctx, paging: Paging<'host' | 'title' | 'createdAt' | 'updatedAt'>) {
  const [rows, total] = await Promise.all([db.branding.findMany({ include, ...pageOf(paging) }), db.branding.count()]);
  return { data: rows.map(brandingOf), total };
}

export async function create(ctx: Ctx, { host, title, copyright, ...files }: BrandingInput): Promise<Branding> {
  assertFree(ctx, host);
  if ((await ctx.db.branding.count()) >= BRANDINGS_AT_MOST) failAt('host', 'limit', `at most ${BRANDINGS_AT_MOST}`);
  const changes = await changesIn(files);
  return ctx.db.$transaction(async (tx) => {
    const data = { host, title, copyright, clientId: ctx.actor.clientId };
    const { id } = await orFail('DUPLICATED', tx.branding.create({ data }));
    await replace(tx, id, changes);
    return one(tx, id);
  });
}

export async function update(ctx: Ctx, { id, host, title, copyright, ...files }: BrandingUpdate): Promise<Branding> {
  if (host !== undefined) assertFree(ctx, host);
  await one(ctx.db, id);
  const changes = await changesIn(files);
  return ctx.db.$transaction(async (tx) => {
    // Updates the row even if only a picture changes, because updatedAt covers the pictures.
    const data = omitUndefined({ host, title, copyright, updatedAt: ctx.now() });
    await orFail('DUPLICATED', tx.branding.update({ where: { id }, data }));
    await replace(tx, id, changes);
    return one(tx, id);
  });
}

export const remove = ({ db }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.branding.deleteMany({ where: { id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

/** Rejects the installation's own host names, which all operators share. */
function assertFree({ installation: { env } }: Ctx, host: string) {
  if ([env.PUBLIC_URL, env.ADMIN_URL].some((url) => new URL(url).hostname === host))
    failAt('host', 'taken', 'this name is not allowed');
}

type Files = Partial<Record<BrandSlot, File | '' | undefined>>;
interface Changes {
  gone: BrandSlot[];
  made: Awaited<ReturnType<typeof brandImage>>[];
}

/** Checks pictures one by one and before the transaction, because each check may take a second. */
async function changesIn(files: Files): Promise<Changes> {
  const changes: Changes = { gone: [], made: [] };
  for (const slot of brandSlots) {
    const file = files[slot];
    // Browsers send a file field without a selection as an empty file.
    if (file === undefined || (file !== '' && file.size === 0)) continue;
    changes.gone.push(slot);
    if (file !== '') changes.made.push(await brandImage(slot, file));
  }
  return changes;
}

async function replace(tx: ScopedTx, brandingId: string, { gone, made }: Changes) {
  await tx.brandImage.deleteMany({ where: { brandingId, slot: { in: gone } } });
  await tx.brandImage.createMany({ data: made.map((image) => ({ ...image, brandingId })) });
}

async function one({ branding }: Pick<ScopedTx, 'branding'>, id: string): Promise<Branding> {
  const found = await branding.findUnique({ where: { id }, include });
  return found ? brandingOf(found) : fail('NOT_FOUND');
}

const brandingOf = ({
  id,
  host,
  createdAt,
  updatedAt,
  ...look
}: Prisma.BrandingGetPayload<{ include: typeof include }>): Branding => ({
  id,
  host,
  createdAt,
  updatedAt,
  ...shown(look),
});
