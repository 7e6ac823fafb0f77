// Emails a site's owner before a served certificate expires that has no renewal or whose renewals keep failing. If the
// site has no owner, its operator gets the mail.
import type { Installation } from '../core/installation.ts';
import type { Prisma } from '../generated/client.ts';

const DAY_MS = 86_400_000;
const DAYS = [1, 7, 14];
const PAGE_SIZE = 1000;

/** Returns the number of emails. Each notice is sent once, whichever process sends it. */
export async function tellEnds({ db, mail }: Pick<Installation, 'db' | 'mail'>, now: Date): Promise<number> {
  const horizon = new Date(now.getTime() + Math.max(...DAYS) * DAY_MS);
  let notified = 0;
  for (let after: string | null = null; ;) {
    const ending: Ending[] = await db.certificate.findMany({
      where: {
        notAfter: { gt: now, lte: horizon },
        domains: { some: {} },
        ...(after !== null && { id: { gt: after } }),
      },
      include,
      orderBy: { id: 'asc' },
      take: PAGE_SIZE,
    });
    notified += await notify({ db, mail }, ending, now);
    after = ending.at(-1)?.id ?? null;
    if (ending.length < PAGE_SIZE) return notified;
  }
}

const include = { site: { include: { owner: true } } } as const;
type Ending = Prisma.CertificateGetPayload<{ include: typeof include }>;

async function notify(
  { db, mail }: Pick<Installation, 'db' | 'mail'>,
  ending: readonly Ending[],
  now: Date,
): Promise<number> {
  const orphaned = ending.flatMap(({ site }) => (site.owner === null ? [site.clientId] : []));
  const roots = await db.account.findMany({ where: { clientId: { in: orphaned }, kind: 'client', isRoot: true } });
  const rootOf = new Map(roots.map((root) => [root.clientId, root]));
  let notified = 0;
  for (const { id, name, notAfter, noticedEnd, noticedDays, site } of ending) {
    const owner = site.owner ?? rootOf.get(site.clientId);
    if (notAfter === null || owner === undefined) continue;
    const left = (notAfter.getTime() - now.getTime()) / DAY_MS;
    const days = DAYS.find((step) => left <= step) ?? 0;
    if (noticedEnd?.getTime() === notAfter.getTime() && (noticedDays ?? 0) <= days) continue;
    await db.$transaction(async (tx) => {
      const { count } = await tx.certificate.updateMany({
        where: { id, OR: [{ noticedEnd: null }, { noticedEnd: { not: notAfter } }, { noticedDays: { gt: days } }] },
        data: { noticedEnd: notAfter, noticedDays: days },
      });
      if (count === 0) return;
      const at = notAfter.toISOString().slice(0, 16).replace('T', ' ');
      await mail.post(tx, owner, 'certificateEnds', { name, site: site.name, at, days: String(Math.ceil(left)) });
      notified += 1;
    });
  }
  return notified;
}
