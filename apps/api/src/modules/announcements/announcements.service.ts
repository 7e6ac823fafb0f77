import type {
  Announcement,
  AnnouncementInput,
  AnnouncementUpdate,
  ShownAnnouncement,
} from '@edgeloom/contract/announcements/announcements.ts';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { Announcement as Row } from '../../generated/client.ts';

const ANNOUNCEMENTS_AT_MOST = 100;
const inOrder = [{ position: 'asc' }, { id: 'asc' }] as const;
const columns = {
  orderNum: 'position',
  title: 'title',
  start: 'startsAt',
  end: 'endsAt',
  createdAt: 'createdAt',
} as const;

export async function inForce({ db, now }: Ctx): Promise<{ data: ShownAnnouncement[] }> {
  const at = now();
  const rows = await db.announcement.findMany({
    where: { startsAt: { lte: at }, OR: [{ endsAt: null }, { endsAt: { gt: at } }] },
    orderBy: [...inOrder],
  });
  return { data: rows.map((row, i) => announcementOf(row, i + 1)) };
}

export async function list({ db }: Ctx, { sortBy, ...paging }: Paging<keyof typeof columns>) {
  const [rows, ordered] = await Promise.all([
    db.announcement.findMany(pageOf({ ...paging, sortBy: columns[sortBy] })),
    placesIn(db),
  ]);
  return { data: rows.map((row) => announcementOf(row, indexIn(ordered, row.id) + 1)), total: ordered.length };
}

export const create = ({ db, actor }: Ctx, { start, end, order, title, content }: AnnouncementInput) =>
  db.$transaction(async (tx) => {
    assertWindow(start, end);
    const others = await tx.announcement.count();
    if (others >= ANNOUNCEMENTS_AT_MOST) failAt('title', 'limit', `at most ${ANNOUNCEMENTS_AT_MOST}`);
    const data = { clientId: actor.clientId, title, content, startsAt: start, endsAt: end, position: others };
    const row = await tx.announcement.create({ data });
    return announcementOf(row, await place(tx, row.id, order ?? others + 1));
  });

export const update = ({ db }: Ctx, { id, start, end, order, title, content }: AnnouncementUpdate) =>
  db.$transaction(async (tx) => {
    const before = await tx.announcement.findUnique({ where: { id } });
    if (!before) fail('NOT_FOUND');
    assertWindow(start ?? before.startsAt, end === undefined ? before.endsAt : end);
    const data = omitUndefined({ title, content, startsAt: start, endsAt: end });
    const row = await tx.announcement.update({ where: { id }, data });
    return announcementOf(row, await place(tx, id, order));
  });

export const remove = ({ db }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.announcement.deleteMany({ where: { id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

function assertWindow(start: Date, end: Date | null) {
  if (end !== null && end <= start) failAt('end', 'window', 'after the start');
}

const placesIn = ({ announcement }: Pick<ScopedTx, 'announcement'>) =>
  announcement.findMany({ orderBy: [...inOrder], select: { id: true, position: true } });
const indexIn = (places: readonly { id: string }[], id: string) => places.findIndex((one) => one.id === id);

/** Moves one to `order` and returns its position; the others shift. Without `order` it keeps its position. */
async function place(tx: ScopedTx, id: string, order: number | undefined): Promise<number> {
  const before = await placesIn(tx);
  if (order === undefined) return indexIn(before, id) + 1;
  const others = before.filter((one) => one.id !== id);
  const after = [...others.slice(0, order - 1), ...before.filter((one) => one.id === id), ...others.slice(order - 1)];
  const moves = after.map((one, i) => ({ ...one, to: i })).filter(({ position, to }) => position !== to);
  // Updates by id order, so that concurrent calls cannot deadlock.
  for (const { id: one, to } of moves.toSorted((a, b) => a.id.localeCompare(b.id)))
    await tx.announcement.update({ where: { id: one }, data: { position: to } });
  return indexIn(after, id) + 1;
}

const announcementOf = ({ startsAt, endsAt, ...row }: Row, orderNum: number): Announcement => ({
  ...row,
  start: startsAt,
  end: endsAt,
  orderNum,
});
