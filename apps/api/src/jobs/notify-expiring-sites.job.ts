// Emails a site's owner and its operator 30, 7 and 1 days before the site expires.
import type { Installation } from '../core/installation.ts';
import type { Prisma } from '../generated/client.ts';

const DAY_MS = 86_400_000;
const DAYS = [1, 7, 30];
const PAGE_SIZE = 1000;

/** Returns the number of sites. Each notice is sent once, whichever process sends it. */
export async function notifyExpiringSites({ db, mail }: Pick<Installation, 'db' | 'mail'>, now: Date): Promise<number> {
  const horizon = new Date(now.getTime() + Math.max(...DAYS) * DAY_MS);
  let notified = 0;
  for (let after: string | null = null; ;) {
    const expiring: Expiring[] = await db.site.findMany({
      where: {
        expiresAt: { gt: now, lte: horizon },
        status: { not: 'expired' },
        ...(after !== null && { id: { gt: after } }),
      },
      include,
      orderBy: { id: 'asc' },
      take: PAGE_SIZE,
    });
    notified += await notify({ db, mail }, expiring, now);
    after = expiring.at(-1)?.id ?? null;
    if (expiring.length < PAGE_SIZE) return notified;
  }
}

const include = { owner: true } as const;
type Expiring = Prisma.SiteGetPayload<{ include: typeof include }>;

async function notify(
  { db, mail }: Pick<Installation, 'db' | 'mail'>,
  expiring: readonly Expiring[],
  now: Date,
): Promise<number> {
  const clientIds = [...new Set(expiring.map(({ clientId }) => clientId))];
  const roots = await db.account.findMany({ where: { clientId: { in: clientIds }, kind: 'client', isRoot: true } });
  const rootOf = new Map(roots.map((root) => [root.clientId, root]));
  let notified = 0;
  for (const { id, name, clientId, owner, expiresAt, noticedEnd, noticedDays } of expiring) {
    if (expiresAt === null) continue;
    const left = (expiresAt.getTime() - now.getTime()) / DAY_MS;
    const days = DAYS.find((step) => left <= step) ?? 0;
    if (noticedEnd?.getTime() === expiresAt.getTime() && (noticedDays ?? 0) <= days) continue;
    const root = rootOf.get(clientId);
    const recipients = [...(owner ? [owner] : []), ...(root ? [root] : [])];
    await db.$transaction(async (tx) => {
      const { count } = await tx.site.updateMany({
        where: {
          id,
          expiresAt,
          OR: [{ noticedEnd: null }, { noticedEnd: { not: expiresAt } }, { noticedDays: { gt: days } }],
        },
        data: { noticedEnd: expiresAt, noticedDays: days },
      });
      if (count === 0) return;
      const at = expiresAt.toISOString().slice(0, 16).replace('T', ' ');
      for (const recipient of recipients)
        await mail.post(tx, recipient, 'siteEnds', { site: name, at, days: String(Math.ceil(left)) });
      notified += 1;
    });
  }
  return notified;
}
