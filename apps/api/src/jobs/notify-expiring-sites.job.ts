// Emails a site's owner and its operator 30, 7 and 1 days before the site expires.
import type { Installation } from '../core/installation.ts';
import type { Addressee } from '../core/mail/queue.ts';
import { dueNotice } from '../modules/sites/expiry-notices.ts';

const DAY_MS = 86_400_000;
const PAGE_SIZE = 1000;

interface ExpiringSite {
  id: string;
  name: string;
  expiresAt: Date;
  recipients: Addressee[];
}

/** Sites with a notice that is due and not sent. */
const FIND = `
  SELECT s.id, s.name, s.expires_at AS "expiresAt", (
    SELECT coalesce(json_agg(json_build_object('email', a.email, 'language', a.language, 'clientId', a.client_id)), '[]')
    FROM accounts a
    WHERE a.id = s.owner_id OR a.client_id = s.client_id AND a.kind = 'client' AND a.is_root) AS recipients
  FROM sites s
  WHERE s.expires_at > $1 AND s.expires_at <= $1 + interval '30 days' AND s.status <> 'expired' AND s.id > $2::uuid
    AND (s.noticed_end IS DISTINCT FROM s.expires_at OR s.noticed_days > CASE
      WHEN s.expires_at <= $1 + interval '1 day' THEN 1 WHEN s.expires_at <= $1 + interval '7 days' THEN 7 ELSE 30 END)
  ORDER BY s.id LIMIT ${PAGE_SIZE}`;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

type Deps = Pick<Installation, 'db' | 'pool' | 'mail'>;

/** Returns the number of sites. Each notice is sent once, whichever process sends it. */
export async function notifyExpiringSites({ db, pool, mail }: Deps, now: Date): Promise<number> {
  let notified = 0;
  for (let after = BEFORE_ALL; ;) {
    const { rows } = await pool.query<ExpiringSite>(FIND, [now, after]);
    for (const site of rows) if (await notify({ db, mail }, site, now)) notified += 1;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE_SIZE) return notified;
    after = last.id;
  }
}

/** False if another process has sent the notice, or the expiry has changed. */
const notify = (
  { db, mail }: Pick<Deps, 'db' | 'mail'>,
  { id, name, expiresAt, recipients }: ExpiringSite,
  now: Date,
): Promise<boolean> =>
  db.$transaction(async (tx) => {
    const days = dueNotice(expiresAt, now);
    // Not through Prisma, which would set updated_at.
    const count = await tx.$executeRaw`
      UPDATE sites SET noticed_end = expires_at, noticed_days = ${days}
      WHERE id = ${id}::uuid AND expires_at = ${expiresAt}
        AND (noticed_end IS DISTINCT FROM expires_at OR noticed_days > ${days})`;
    if (count === 0) return false;
    const at = expiresAt.toISOString().slice(0, 16).replace('T', ' ');
    const left = String(Math.ceil((expiresAt.getTime() - now.getTime()) / DAY_MS));
    for (const recipient of recipients) await mail.post(tx, recipient, 'siteEnds', { site: name, at, days: left });
    return true;
  });
