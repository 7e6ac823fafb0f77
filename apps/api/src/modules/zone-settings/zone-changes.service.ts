// Every change of a zone's settings goes through here: it updates the rows, stores a version with the reason, and is
// tried at some nodes before all others get it.
import { changesBetween, isSame, strategyOf } from '@edgeloom/contract/zone-settings/changes.ts';
import type { ZoneContent } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { contentIn as contentOfVersion } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import { codedMessage, messageFields } from '@edgeloom/contract/rollouts/messages.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { beginRollout } from '../../rollouts/begin-rollout.ts';
import { RetainedPorts } from '../../zone-settings/trials.ts';
import { contentOf } from '../../zone-settings/zone-content.ts';
import { docOf } from './snippet-check.ts';

interface Change<T> {
  zoneId: string;
  reason: string | undefined;
  work: (tx: ScopedTx, before: ZoneContent) => Promise<T>;
}

export function change<T>(ctx: Ctx, { zoneId, reason = '', work }: Change<T>): Promise<T> {
  return ctx.db.$transaction(async (tx) => {
    // Locks the zone first, as rollouts do (holdRollout). Concurrent changes of a zone run one after the other.
    await tx.zone.update({ where: { id: zoneId }, data: { updatedAt: new Date() }, select: { id: true } });
    const before = await readContent(tx, zoneId);
    const opened = await openedPorts(tx, zoneId);
    const answer = await work(tx, before);
    const after = await readContent(tx, zoneId);
    if (isSame(before, after)) return answer;
    const retained = opened.filter(
      ({ portID, port }) => !after.ports.some((one) => one.id === portID && one.port === port),
    );
    await record(ctx, tx, { zoneId, before, after, retained, reason });
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

async function openedPorts(tx: ScopedTx, zoneId: string): Promise<RetainedPorts> {
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
  retained: RetainedPorts;
  reason: string;
}

async function record(ctx: Ctx, tx: ScopedTx, { zoneId, before, after, retained, reason }: Recorded): Promise<void> {
  const { name: author, clientId } = ctx.actor;
  const now = ctx.now();
  const standing = await tx.zoneVersion.findMany({ where: { zoneId, state: { in: ['live', 'trial'] } } });
  // Stores the state before the first change as a version too, so that it can be restored.
  if (standing.length === 0)
    standing.push(
      await tx.zoneVersion.create({
        data: { zoneId, version: 1, content: before, state: 'live', author: '', settledAt: now },
      }),
    );
  const newest = await tx.zoneVersion.findFirst({ where: { zoneId }, orderBy: { version: 'desc' } });
  const version = (newest?.version ?? 1) + 1;
  const tried = standing.find(({ state }) => state === 'trial');
  const live = standing.find(({ state }) => state === 'live');
  // A newer change replaces the one in trial: it starts again at the first node, and would roll back to the live
  // version.
  await tx.zoneVersion.updateMany({ where: { zoneId, state: 'trial' }, data: { state: 'replaced', settledAt: now } });
  await endRollouts(tx, zoneId, now);

  const nodes = await tx.edgeNode.findMany({
    where: { zoneId, joinedAt: { not: null }, enabled: true },
    select: { id: true },
  });
  const current = live ? contentIn(live) : before;
  const state = isNoticed(current, after) && nodes.length > 0 ? 'trial' : 'live';
  if (state === 'live') await tx.zoneVersion.updateMany({ where: { zoneId, state }, data: { state: 'past' } });
  const listened = [...(tried ? RetainedPorts.parse(tried.retainedPorts) : []), ...retained];
  await tx.zoneVersion.create({
    data: {
      zoneId,
      version,
      content: after,
      state,
      reason,
      author,
      ...(state === 'trial' ? { retainedPorts: listened } : { settledAt: now }),
    },
  });
  await changed(tx, zoneId, 'zone', ...new Set(listened.map(({ siteID }) => siteKey(siteID))));
  if (state !== 'trial') return;
  const { name } = await tx.zone.findUniqueOrThrow({ where: { id: zoneId }, select: { name: true } });
  await beginRollout(tx, {
    clientId,
    kind: 'zone',
    target: { zoneID: zoneId, version },
    title: `${name} ${version}`,
    strategy: strategyOf(current.soakSeconds, changesBetween(current, after)),
    reason,
    createdBy: author,
    nodeIds: nodes.map(({ id }) => id),
    zoneIds: [zoneId],
    ifBusy: 'wait',
    now,
  });
}

/** Whether the change affects any node. */
export const isNoticed = (before: ZoneContent, after: ZoneContent) =>
  JSON.stringify(docOf(before)) !== JSON.stringify(docOf(after));

const ofZone = (zoneId: string) => ({ kind: 'zone', zones: { some: { zoneId } } });

/** Ends rollouts in progress: their changes are replaced, so nothing is rolled back. */
async function endRollouts(tx: ScopedTx, zoneId: string, now: Date): Promise<void> {
  const rollout = { ...ofZone(zoneId), endedAt: null };
  const turn = (from: string[], state: string) =>
    tx.rolloutNode.updateMany({
      where: { rollout, state: { in: from } },
      data: { state, active: false, endedAt: now },
    });
  await turn(['updating', 'updated', 'rollingBack'], 'rolledBack');
  await turn(['waiting', 'away'], 'leftOut');
  await tx.rolloutNode.updateMany({ where: { rollout, active: true }, data: { active: false } });
  await tx.rollout.updateMany({
    where: { ...rollout, message: null },
    data: { fault: 'person', ...messageFields(codedMessage('newerChange')) },
  });
  await tx.rollout.updateMany({ where: rollout, data: { state: 'rolledBack', endedAt: now } });
}

export const contentIn = (row: { content: unknown }): ZoneContent => contentOfVersion(row.content);
