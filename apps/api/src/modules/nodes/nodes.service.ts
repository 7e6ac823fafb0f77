import { randomBytes } from 'node:crypto';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import { nodeKey } from '@edgeloom/contract/edge/documents.ts';
import type { EdgeNode, NodeInput, NodeStatus, NodeUpdate } from '@edgeloom/contract/nodes/nodes.ts';
import { changed } from '../../core/changes.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { given } from '../../core/given.ts';
import { containing, pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { NodeState, Prisma } from '../../generated/client.ts';
import { tokenHash } from '../../node-link/join.ts';
import { linkOf } from '../../node-link/start.ts';
import * as zones from '../zones/zones.service.ts';
import { nodeStatus, Rejected } from './node-status.ts';

const JOIN_MS = 24 * 3_600_000;

const include = { zone: { select: { name: true, revision: true } } } satisfies Prisma.EdgeNodeInclude;
type Row = Prisma.EdgeNodeGetPayload<{ include: typeof include }>;

interface Filter {
  zoneID?: string | undefined;
  name?: string | undefined;
  ip?: string | undefined;
  status?: NodeStatus[] | undefined;
  initialized?: boolean | undefined;
}

export async function list(
  ctx: Ctx,
  { zoneID, name, ip, status, initialized, ...paging }: Paging<'name' | 'createdAt' | 'updatedAt' | 'ip'> & Filter,
) {
  const where: Prisma.EdgeNodeWhereInput = {
    ...(zoneID !== undefined && { zoneId: zoneID }),
    ...(name && { name: containing(name) }),
    ...(ip && { ip: containing(ip) }),
    ...(initialized !== undefined && { joinedAt: initialized ? { not: null } : null }),
  };
  const { orderBy, skip, take } = pageOf(paging);
  // A status follows from several columns and the clock, so it is decided in one place, after the rows are read. Nodes
  // are machines: there are never so many that reading a client's own would matter.
  if (status) {
    const nodes = await shown(ctx, await ctx.db.edgeNode.findMany({ where, include, orderBy }));
    const wanted = nodes.filter((node) => status.includes(node.status));
    return { data: wanted.slice(skip, skip + take), total: wanted.length };
  }
  const [rows, total] = await Promise.all([
    ctx.db.edgeNode.findMany({ where, include, orderBy, skip, take }),
    ctx.db.edgeNode.count({ where }),
  ]);
  return { data: await shown(ctx, rows), total };
}

/** Of a zone that the caller does not have there is no list, not an empty one. */
export async function listInZone(ctx: Ctx, zoneID: string, query: Parameters<typeof list>[1]) {
  await zones.own(ctx.db, zoneID);
  return list(ctx, { ...query, zoneID });
}

export const meta = async ({ db }: Ctx, zoneID: string | undefined) => ({
  data: await db.edgeNode.findMany({
    where: zoneID === undefined ? {} : { zoneId: zoneID },
    select: { id: true, name: true },
    orderBy: { name: 'asc' },
    take: 1000,
  }),
});

export async function get(ctx: Ctx, id: string): Promise<EdgeNode> {
  const [node] = await shown(ctx, await ctx.db.edgeNode.findMany({ where: { id }, include }));
  return node ?? fail('NOT_FOUND');
}

export async function config({ db, now }: Ctx, id: string) {
  const row = (await db.edgeNode.findUnique({ where: { id }, include })) ?? fail('NOT_FOUND');
  const state = await db.nodeState.findUnique({ where: { nodeId: id } });
  return {
    status: nodeStatus(row, state, now()),
    currentSerial: state?.revision ?? 0,
    latestSerial: row.zone.revision,
    digestAgrees: state?.digestAgrees ?? null,
    rejected: Rejected.parse(state?.rejected ?? []),
    nginx: state?.nginx ?? null,
    capabilities: state?.capabilities ?? [],
    error: state?.error ?? null,
  };
}

export async function create(ctx: Ctx, { zoneID, ...input }: NodeInput) {
  const { token, ...joining } = newToken(ctx);
  const id = await ctx.db.$transaction(async (tx) => {
    const data = { ...input, cacheMaxBytes: BigInt(input.cacheMaxBytes), zoneId: zoneID, ...joining };
    await tx.$license.assertRoom('nodes');
    const { id } = await orFail('DUPLICATED', tx.edgeNode.create({ data }));
    await tx.nodeState.create({ data: { nodeId: id } });
    await changed(tx, zoneID, nodeKey(id));
    return id;
  });
  return { ...(await get(ctx, id)), joinToken: token, expiresAt: joining.joinEndsAt };
}

/** For a machine that was replaced or set up anew: whoever held the node's identity until now loses it. */
export async function rejoin(ctx: Ctx, id: string) {
  const { token, ...joining } = newToken(ctx);
  await ctx.db.$transaction(async (tx) => {
    await revoke(tx, [id]);
    await tx.edgeNode.update({ where: { id }, data: { ...joining, publicKey: null, joinedAt: null } });
  });
  await linkOf(ctx.installation)?.revoke();
  return { joinToken: token, expiresAt: joining.joinEndsAt };
}

export async function update(ctx: Ctx, { id, cacheMaxBytes, ...fields }: NodeUpdate): Promise<EdgeNode> {
  await ctx.db.$transaction(async (tx) => {
    const bytes = cacheMaxBytes === undefined ? {} : { cacheMaxBytes: BigInt(cacheMaxBytes) };
    const work = tx.edgeNode.update({ where: { id }, data: { ...given(fields), ...bytes } });
    const { zoneId } = await orFail('DUPLICATED', work);
    await changed(tx, zoneId, nodeKey(id));
  });
  return get(ctx, id);
}

export const setEnabled = ({ db }: Ctx, ids: string[], enabled: boolean) =>
  db.$transaction(async (tx) => {
    const nodes = await own(tx, ids);
    await tx.edgeNode.updateMany({ where: { id: { in: ids } }, data: { enabled } });
    await changedNodes(tx, nodes);
    return { ids };
  });

/** The nodes fetch everything anew. All are asked; those that did not answer are named. */
export async function reset({ db, installation }: Ctx, ids: string[]) {
  const nodes = await own(db, ids);
  const link = linkOf(installation) ?? fail('NODE_UNREACHABLE');
  const asked = await Promise.allSettled(nodes.map(({ id }) => link.resync(id)));
  const silent = nodes.filter((_, i) => asked[i]?.status === 'rejected');
  if (silent.length > 0) fail('NODE_UNREACHABLE', { errorData: silent.map(({ id, name }) => ({ id, name })) });
  return { ids };
}

export async function remove({ db, installation }: Ctx, ids: string[]) {
  await db.$transaction(async (tx) => {
    const nodes = await own(tx, ids);
    const enabled = nodes.filter((node) => node.enabled);
    if (enabled.length > 0)
      fail('STILL_ENABLED', { errorData: enabled.map(({ id, name }) => ({ id, name, rule: 'enabled' })) });
    await revoke(tx, ids);
    await tx.edgeNode.deleteMany({ where: { id: { in: ids } } });
    await changedNodes(tx, nodes);
  });
  await linkOf(installation)?.revoke();
  return { ids };
}

async function own(tx: ScopedTx, ids: string[]) {
  const select = { id: true, zoneId: true, name: true, enabled: true };
  const nodes = await tx.edgeNode.findMany({ where: { id: { in: ids } }, select });
  if (nodes.length !== new Set(ids).size) fail('NOT_FOUND');
  return nodes;
}

async function changedNodes(tx: ScopedTx, nodes: { id: string; zoneId: string }[]) {
  for (const [zoneId, inZone] of Map.groupBy(nodes, (node) => node.zoneId))
    await changed(tx, zoneId, ...inZone.map(({ id }) => nodeKey(id)));
}

/** Written down with the change; told to NATS after it. */
async function revoke(tx: ScopedTx, ids: string[]) {
  const nodes = await tx.edgeNode.findMany({ where: { id: { in: ids } }, select: { publicKey: true } });
  const keys = nodes.flatMap(({ publicKey }) => (publicKey === null ? [] : [{ publicKey }]));
  if (keys.length > 0) await tx.revokedKey.createMany({ data: keys, skipDuplicates: true });
}

function newToken({ now }: Ctx) {
  const token = randomBytes(32).toString('base64url');
  return { token, joinHash: tokenHash(token), joinEndsAt: new Date(now().getTime() + JOIN_MS) };
}

async function shown({ db, now }: Ctx, rows: Row[]): Promise<EdgeNode[]> {
  const states = await db.nodeState.findMany({ where: { nodeId: { in: rows.map(({ id }) => id) } } });
  const byNode = new Map(states.map((state) => [state.nodeId, state]));
  const at = now();
  return rows.map((row) => nodeOf(row, byNode.get(row.id) ?? null, at));
}

const nodeOf = (row: Row, state: NodeState | null, now: Date): EdgeNode => ({
  id: row.id,
  name: row.name,
  ip: row.ip,
  zoneID: row.zoneId,
  zoneName: row.zone.name,
  role: row.role === 'backup' ? 'backup' : 'main',
  enabled: row.enabled,
  status: nodeStatus(row, state, now),
  initialized: row.joinedAt !== null,
  currentSerial: state?.revision ?? 0,
  latestSerial: row.zone.revision,
  syncedAt: state?.syncedAt ?? null,
  lastSeenAt: state?.lastSeenAt ?? null,
  version: state?.version ?? '',
  error: state?.error ?? null,
  memo: row.memo,
  cacheMaxBytes: Number(row.cacheMaxBytes),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});
