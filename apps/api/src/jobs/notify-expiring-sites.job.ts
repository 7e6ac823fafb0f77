// Mails a site's owner and its operator 30, 7 and 1 days before the site expires. Each of them gets one mail about all
// sites whose notice is due.
import type { Installation } from '../core/installation.ts';
import type { Addressee } from '../core/mail/queue.ts';
import type { Prisma } from '../generated/client.ts';
import { NOTICE_DAYS } from '../modules/sites/expiry-notices.ts';

const DAY_MS = 86_400_000;
/** One operator's sites in a transaction and in a mail. */
const MAX_SITES = 1000;
const MAX_NAMES = 50;
const transactionLimits = { timeout: 60_000, maxWait: 10_000 };

interface ExpiringSite {
  name: string;
  expiresAt: Date;
  recipients: Addressee[];
}

/** The last notice whose time has come: $1 is now, and $2 has the days of notices. */
const DUE_DAYS = `(SELECT min(d) FROM unnest($2::int[]) d WHERE s.expires_at <= $1::timestamptz + d * interval '1 day')`;
const IS_DUE = `s.expires_at > $1::timestamptz AND s.status <> 'expired'
  AND (${DUE_DAYS} < s.noticed_days OR s.noticed_end IS DISTINCT FROM s.expires_at AND ${DUE_DAYS} IS NOT NULL)`;
const FIND_OPERATORS = `SELECT DISTINCT s.client_id AS "clientId" FROM sites s WHERE ${IS_DUE} ORDER BY 1`;
/** A second process waits for the rows, and then finds none. Not through Prisma, which would set updated_at. */
const TAKE = `WITH due AS MATERIALIZED (
    SELECT s.id, ${DUE_DAYS} AS days FROM sites s WHERE s.client_id = $3::uuid AND ${IS_DUE}
    ORDER BY s.id LIMIT ${MAX_SITES} FOR UPDATE)
  UPDATE sites s SET noticed_end = s.expires_at, noticed_days = due.days FROM due WHERE s.id = due.id
  RETURNING s.name, s.expires_at AS "expiresAt", (
    SELECT coalesce(json_agg(json_build_object('email', a.email, 'language', a.language, 'clientId', a.client_id)), '[]')
    FROM accounts a
    WHERE a.id = s.owner_id OR a.client_id = s.client_id AND a.kind = 'client' AND a.is_root) AS recipients`;

type Deps = Pick<Installation, 'db' | 'pool' | 'mail'>;

/** Returns the number of sites. Each notice is sent once, whichever process sends it. */
export async function notifyExpiringSites({ db, pool, mail }: Deps, now: Date): Promise<number> {
  const { rows } = await pool.query<{ clientId: string }>(FIND_OPERATORS, [now, NOTICE_DAYS]);
  let notified = 0;
  for (const { clientId } of rows)
    for (let taken = MAX_SITES; taken === MAX_SITES; notified += taken)
      taken = await db.$transaction((tx) => notify(tx, mail, clientId, now), transactionLimits);
  return notified;
}

async function notify(
  tx: Prisma.TransactionClient,
  mail: Installation['mail'],
  clientId: string,
  now: Date,
): Promise<number> {
  const sites = await tx.$queryRawUnsafe<ExpiringSite[]>(TAKE, now, [...NOTICE_DAYS], clientId);
  const addressed = sites.flatMap(({ recipients, ...site }) => recipients.map((recipient) => ({ recipient, site })));
  for (const mails of Map.groupBy(addressed, ({ recipient }) => recipient.email).values()) {
    const [first] = mails;
    if (first)
      await post(
        tx,
        mail,
        first.recipient,
        mails.map(({ site }) => site),
        now,
      );
  }
  return sites.length;
}

async function post(
  tx: Prisma.TransactionClient,
  mail: Installation['mail'],
  recipient: Addressee,
  sites: Omit<ExpiringSite, 'recipients'>[],
  now: Date,
): Promise<void> {
  const inOrder = sites.toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
  const [first] = inOrder;
  if (!first) return;
  if (sites.length === 1) {
    const days = String(Math.ceil((first.expiresAt.getTime() - now.getTime()) / DAY_MS));
    await mail.post(tx, recipient, 'siteEnds', { site: first.name, at: minuteOf(first.expiresAt), days });
    return;
  }
  const names = inOrder.slice(0, MAX_NAMES).map(({ name, expiresAt }) => `${name} (${minuteOf(expiresAt)})`);
  const list = [...names, ...(sites.length > MAX_NAMES ? ['…'] : [])].join(', ');
  await mail.post(tx, recipient, 'sitesEnd', { count: String(sites.length), sites: list });
}

const minuteOf = (time: Date) => time.toISOString().slice(0, 16).replace('T', ' ');
