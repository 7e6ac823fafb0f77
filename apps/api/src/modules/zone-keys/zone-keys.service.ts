// The key that encrypts a zone's secrets for its nodes: its age, and the progress of a rotation (zone-keys/change.ts).
import type { ZoneKey, ZoneKeyChange } from '@edgeloom/contract/zone-keys/zone-keys.ts';
import { ZoneKeyCause, ZoneKeyState } from '@edgeloom/contract/zone-keys/zone-keys.ts';
import * as z from 'zod';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { Prisma } from '../../generated/client.ts';
import { UNDER_WAY } from '../../zone-keys/ring.ts';
import * as zones from '../zones/zones.service.ts';

const select = {
  id: true,
  state: true,
  cause: true,
  reason: true,
  author: true,
  documents: true,
  queued: true,
  sealedRevision: true,
  createdAt: true,
  since: true,
  endedAt: true,
} satisfies Prisma.ZoneKeyChangeSelect;
type Row = Prisma.ZoneKeyChangeGetPayload<{ select: typeof select }>;

const Held = z.array(z.string()).nullable().catch(null);

export const get = ({ db }: Ctx, zoneId: string): Promise<ZoneKey> => read(db, zoneId);

/** A repeated call returns the rotation in progress. */
export const rotate = ({ db, actor }: Ctx, zoneId: string, reason: string): Promise<ZoneKey> =>
  db.$transaction(async (tx) => {
    await zones.own(tx, zoneId);
    const old = (await nodesOf(tx, zoneId)).filter(isTooOld);
    if (old.length > 0)
      fail('NODE_VERSION_MISMATCH', { errorData: old.map(({ id, name }) => ({ id, name, rule: 'version' })) });
    const open = { zoneId, state: { in: ['waiting', 'delivering', 'sealing'] } };
    if ((await tx.zoneKeyChange.count({ where: open })) === 0)
      await tx.zoneKeyChange.createMany({
        data: { zoneId, cause: 'asked', reason, author: actor.name },
        skipDuplicates: true,
      });
    return read(tx, zoneId);
  });

async function read(db: ScopedTx, zoneId: string): Promise<ZoneKey> {
  const zone =
    (await db.zone.findUnique({ where: { id: zoneId }, select: { keySince: true, createdAt: true } })) ??
    fail('NOT_FOUND');
  const [rows, nodes] = await Promise.all([
    // One statement, since a rotation may end between two. At most two are open, and no ended one is newer.
    db.zoneKeyChange.findMany({ where: { zoneId }, select, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], take: 3 }),
    nodesOf(db, zoneId),
  ]);
  const underWay = rows.find(({ state }) => UNDER_WAY.some((one) => one === state));
  const waiting = rows.find(({ state }) => state === 'waiting');
  const last = rows.find((row) => row !== underWay && row !== waiting);
  const current = underWay ?? waiting;
  const shown = (row: Row | null | undefined) => (row ? changeOf(row, nodes) : null);
  return {
    since: zone.keySince ?? zone.createdAt,
    current: shown(current),
    next: underWay ? shown(waiting) : null,
    last: shown(last),
    tooOld: nodes.filter(isTooOld).map(named),
  };
}

type Node = Awaited<ReturnType<typeof nodesOf>>[number];

/** The nodes that have joined, and so hold a key. */
const nodesOf = (db: ScopedTx, zoneId: string) =>
  db.edgeNode.findMany({
    where: { zoneId, publicKey: { not: null } },
    select: { id: true, name: true, state: { select: { keyIds: true, connectedAt: true, revision: true } } },
    orderBy: { name: 'asc' },
  });

const heldBy = ({ state }: Node) => Held.parse(state?.keyIds ?? null);
const isTooOld = (node: Node) => heldBy(node) === null;
const named = ({ id, name, state }: Node) => ({ id, name, connected: state?.connectedAt != null });

function changeOf({ state, cause, queued, sealedRevision, ...row }: Row, nodes: readonly Node[]): ZoneKeyChange {
  const isMissing = (node: Node) =>
    heldBy(node)?.includes(row.id) !== true ||
    (sealedRevision !== null && (node.state?.revision ?? 0) < sealedRevision);
  const isOpen = UNDER_WAY.some((one) => one === state);
  return {
    ...row,
    state: ZoneKeyState.parse(state),
    cause: ZoneKeyCause.parse(cause),
    sealed: queued,
    missing: isOpen ? nodes.filter(isMissing).map(named) : [],
  };
}
