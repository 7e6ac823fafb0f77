// Every change of what a zone's operator sets goes through here: the rows say what is wanted, a version keeps it with its reason,
// and it is tried by some nodes before the others have it.
import { isSame } from '@edgeloom/contract/zone-settings/changes.ts';
import type { ZoneContent } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { ZoneContent as Content } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import * as z from 'zod';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { contentOf } from '../../zone-settings/zone-content.ts';

/** A port that a site had open and the change takes away or renumbers. */
const Kept = z.array(z.object({ siteID: z.string(), portID: z.string(), port: z.number() }));

interface Change<T> {
  zoneId: string;
  reason: string | undefined;
  work: (tx: ScopedTx, before: ZoneContent) => Promise<T>;
}

export function change<T>({ db, actor }: Ctx, { zoneId, reason = '', work }: Change<T>): Promise<T> {
  return db.$transaction(async (tx) => {
    // One change after the other: what is compared below is what the one before left.
    await tx.zone.update({ where: { id: zoneId }, data: { updatedAt: new Date() }, select: { id: true } });
    const before = await readContent(tx, zoneId);
    const opened = await openedPorts(tx, zoneId);
    const answer = await work(tx, before);
    const after = await readContent(tx, zoneId);
    if (isSame(before, after)) return answer;
    const kept = opened.filter(
      ({ portID, port }) => !after.ports.some((one) => one.id === portID && one.port === port),
    );
    await record(tx, { zoneId, before, after, kept, reason, author: actor.name });
    return answer;
  });
}

const rows = {
  settings: true,
  forceSslRedirectCode: true,
  ports: { select: { id: true, port: true, tls: true } },
} as const;

export const readContent = async (tx: ScopedTx, zoneId: string): Promise<ZoneContent> =>
  contentOf(await tx.zone.findUniqueOrThrow({ where: { id: zoneId }, select: rows }));

async function openedPorts(tx: ScopedTx, zoneId: string): Promise<z.output<typeof Kept>> {
  const found = await tx.sitePort.findMany({
    where: { zonePort: { zoneId } },
    select: { siteId: true, zonePort: { select: { id: true, port: true } } },
  });
  return found.map(({ siteId, zonePort }) => ({ siteID: siteId, portID: zonePort.id, port: zonePort.port }));
}

interface Recorded {
  zoneId: string;
  before: ZoneContent;
  after: ZoneContent;
  kept: z.output<typeof Kept>;
  reason: string;
  author: string;
}

async function record(tx: ScopedTx, { zoneId, before, after, kept, reason, author }: Recorded): Promise<void> {
  const newest = await tx.zoneVersion.findFirst({
    where: { zoneId },
    orderBy: { version: 'desc' },
    select: { version: true },
  });
  // What there was before the first change can be gone back to as well.
  if (newest === null)
    await tx.zoneVersion.create({
      data: { zoneId, version: 1, content: before, state: 'live', author: '', settledAt: new Date() },
    });
  const version = (newest?.version ?? 1) + 1;
  await tx.zoneVersion.updateMany({ where: { zoneId, state: 'live' }, data: { state: 'past' } });
  await tx.zoneVersion.create({
    data: { zoneId, version, content: after, state: 'live', reason, author, settledAt: new Date() },
  });
  const sites = [...new Set(kept.map(({ siteID }) => siteKey(siteID)))];
  await changed(tx, zoneId, 'zone', ...sites);
}

export const contentIn = (row: { content: unknown }): ZoneContent => Content.parse(row.content);
