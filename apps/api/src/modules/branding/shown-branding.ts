// How a console looks, for whoever asks for it by a host name. Nobody is signed in yet, so there is no scope.
import { brandSlots, type ShownBranding } from '@edgeloom/contract/branding/branding.ts';
import type { BrandImage, Branding, PrismaClient } from '../../generated/client.ts';

type Picture = Pick<BrandImage, 'slot' | 'hash' | 'format'>;
export const pictures = { select: { slot: true, hash: true, format: true } } as const;

/** The address says what is there, so it is kept for ever. */
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

/** Null where no client has taken the name. */
export async function brandingAt(db: PrismaClient, host: string): Promise<ShownBranding | null> {
  const branding = await db.branding.findUnique({ where: { host }, include: { images: pictures } });
  return branding && shown(branding);
}

/** Without a host: the console of whoever runs the installation is nobody's to dress. */
export const shownAt = async (db: PrismaClient, host: string | null): Promise<ShownBranding> =>
  (host === null ? null : await brandingAt(db, host)) ?? own;

/** Whose console a host name is; null where it is nobody's own. */
export async function ownerOf(db: PrismaClient, host: string): Promise<string | null> {
  const branding = await db.branding.findUnique({ where: { host }, select: { clientId: true } });
  return branding?.clientId ?? null;
}

/** The name that a client's mails are sent under: of its oldest branding that has one. */
export async function titleOf(db: PrismaClient, clientId: string): Promise<string | null> {
  const titled = await db.branding.findFirst({
    where: { clientId, title: { not: '' } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    select: { title: true },
  });
  return titled?.title ?? null;
}
