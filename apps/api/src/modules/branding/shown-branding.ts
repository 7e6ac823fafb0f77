// Branding of a console by host name. The request is unauthenticated, so there is no scope.
import { brandSlots, type ShownBranding } from '@edgeloom/contract/branding/branding.ts';
import type { BrandImage, Branding, PrismaClient } from '../../generated/client.ts';

type Picture = Pick<BrandImage, 'slot' | 'hash' | 'format'>;
export const pictures = { select: { slot: true, hash: true, format: true } } as const;

/** The URL contains the content's hash, so it is cached permanently. */
export const brandImagePath = '/branding';
const addressOf = ({ hash, format }: Picture) => `${brandImagePath}/${hash}.${format}`;

const own: ShownBranding = {
  title: '',
  copyright: '',
  logo: null,
  favicon: null,
  backgroundImage: null,
  sidebarLogo: null,
  sidebarSimpleLogo: null,
};

export function shown({
  title,
  copyright,
  images,
}: Pick<Branding, 'title' | 'copyright'> & { images: readonly Picture[] }): ShownBranding {
  const found = brandSlots.flatMap((slot) =>
    images.filter((image) => image.slot === slot).map((image) => [slot, addressOf(image)] as const),
  );
  return { ...own, title, copyright, ...Object.fromEntries(found) };
}

/** Null: no operator uses the host name. */
export async function brandingAt(db: PrismaClient, host: string): Promise<ShownBranding | null> {
  const branding = await db.branding.findUnique({ where: { host }, include: { images: pictures } });
  return branding && shown(branding);
}

/** Without a host, the product's default branding. */
export const shownAt = async (db: PrismaClient, host: string | null): Promise<ShownBranding> =>
  (host === null ? null : await brandingAt(db, host)) ?? own;

/** The operator of a host name. Null: none. */
export async function ownerOf(db: PrismaClient, host: string): Promise<string | null> {
  const branding = await db.branding.findUnique({ where: { host }, select: { clientId: true } });
  return branding?.clientId ?? null;
}

/** Sender name of an operator's mails: the title of its oldest branding with a title. */
export async function titleOf(db: PrismaClient, clientId: string): Promise<string | null> {
  const titled = await db.branding.findFirst({
    where: { clientId, title: { not: '' } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    select: { title: true },
  });
  return titled?.title ?? null;
}
