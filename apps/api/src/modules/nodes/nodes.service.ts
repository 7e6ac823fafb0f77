import { randomBytes } from 'node:crypto';
import { Id, type MetaQuery, type Paging } from '@edgeloom/contract/common/common.ts';
import { nodeKey } from '@edgeloom/contract/edge/documents.ts';
import { FailingPattern } from '@edgeloom/contract/edge/messages.ts';
import {
  UnreadableLine,
  type EdgeNode,
  type NodeInput,
  type NodeMonitor,
  type NodeSSHUpdate,
  type NodeStatus,
  type NodeUpdate,
  type UnreadableLines,
} from '@edgeloom/contract/nodes/nodes.ts';
import * as z from 'zod';
import { changed } from '../../core/changes.ts';
import { orFail, orInUse } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { choicesOf, containing, namedBy, pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { contexts } from '../../core/secrets.ts';
import type { Prisma } from '../../generated/client.ts';
import { tokenHash } from '../../node-link/join.ts';
import { lineFor } from '../../install/pull.ts';
import { readFindings } from '../../monitors/counts.ts';
import { linkOf } from '../../node-link/start.ts';
import { keepingLayer4 } from '../groups/layer-4.ts';
import { hasFailedJob, isFailingMonitors, isLosingLogs } from '../attention/conditions.ts';
import * as zones from '../zones/zones.service.ts';
import { include, inForcedGroup, shown, standIns } from './node-row.ts';
import { readHealth, severityOf } from './node-severity.ts';
import { nodeStatus, Rejected } from './node-status.ts';
import { virtualInclude, virtualNodeOf } from './virtual-row.ts';

const JOIN_MS = 24 * 3_600_000;

interface Filter {
  zoneID?: string | undefined;
  groupID?: string | undefined;
  search?: string | undefined;
  name?: string | undefined;
  ip?: string | undefined;
  type?: EdgeNode['type'] | undefined;
  kind?: EdgeNode['kind'] | undefined;
  forceBackup?: boolean | undefined;
  role?: EdgeNode['role'] | undefined;
  portType?: EdgeNode['portType'] | undefined;
  status?: NodeStatus[] | undefined;
  behind?: boolean | undefined;
  jobFailed?: boolean | undefined;
  logsLost?: boolean | undefined;
  failingMonitors?: boolean | undefined;
  initialized?: boolean | undefined;
  parentID?: string;
  ids?: string[];
}
type Column = 'severity' | 'name' | 'createdAt' | 'updatedAt' | 'ip' | 'role' | 'portType' | 'bandwidthMbps';
type Query = Paging<Column> & Filter;

export async function list(ctx: Ctx, { status, behind, ...query }: Query) {
  if (query.type === 'virtual') return virtualNodes(ctx, { status, behind, ...query });
  const { sortBy, ...paging } = query;
  if (sortBy === 'severity' || status || behind !== undefined) return listByHealth(ctx, { ...query, status, behind });
  const where = whereOf(query, ctx.now());
  const { orderBy, skip, take } = pageOf({ ...paging, sortBy });
  const [rows, total] = await Promise.all([
    ctx.db.edgeNode.findMany({ where, include, orderBy, skip, take }),
    ctx.db.edgeNode.count({ where }),
  ]);
  return { data: await shown(ctx, rows), total };
}

/** At most 500 per zone. */
async function virtualNodes({ db }: Ctx, { sortBy, orderBy, page, pageSize, ...filter }: Query) {
  const {
    zoneID,
    groupID,
    search,
    name,
    ip,
    forceBackup,
    status,
    role,
    kind,
    portType,
    initialized,
    jobFailed,
    logsLost,
    failingMonitors,
  } = filter;
  const atAddress = (text: string) => ({ records: { some: { ip: containing(text) } } });
  const by = sortBy === 'createdAt' || sortBy === 'updatedAt' ? sortBy : 'name';
  const found = await db.virtualNode.findMany({
    where: {
      ...(zoneID !== undefined && { zoneId: zoneID }),
      ...(groupID !== undefined && { members: { some: { groupId: groupID } } }),
      ...(search && { OR: [{ name: containing(search) }, { memo: containing(search) }, atAddress(search)] }),
      ...(name && { name: containing(name) }),
      ...(ip && atAddress(ip)),
    },
    include: virtualInclude,
    orderBy: [{ [by]: orderBy }, { id: orderBy }],
  });
  const rows = found
    .map(virtualNodeOf)
    .filter(
      (row) =>
        (forceBackup === undefined || row.forceBackup === forceBackup) &&
        (!status || status.includes(row.status)) &&
        (!role || row.role === role) &&
        (!kind || row.kind === kind) &&
        (!portType || row.portType === portType) &&
        initialized !== false &&
        jobFailed !== true &&
        logsLost !== true &&
        failingMonitors !== true,
    );
  return { data: rows.slice((page - 1) * pageSize, page * pageSize), total: rows.length };
}

/** A status depends on several columns and the time, so all nodes of a client are read before paging. */
async function listByHealth(ctx: Ctx, { status, behind, ...query }: Query) {
  const { sortBy, orderBy, page, pageSize } = query;
  const [order, way] =
    sortBy === 'severity' ? [{ name: 'asc' as const }, orderBy === 'desc' ? -1 : 1] : [{ [sortBy]: orderBy }, 0];
  const found = await readHealth(ctx, { where: whereOf(query, ctx.now()), orderBy: [order, { id: 'asc' }] });
  const wanted = found
    .filter((node) => (!status || status.includes(node.status)) && (behind === undefined || node.isBehind === behind))
    .toSorted((a, b) => way * (severityOf(a) - severityOf(b)));
  const ids = wanted.slice((page - 1) * pageSize, page * pageSize).map(({ id }) => id);
  const rows = await shown(ctx, await ctx.db.edgeNode.findMany({ where: { id: { in: ids } }, include }));
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  return { data: ids.flatMap((id) => rowOf.get(id) ?? []), total: wanted.length };
}

const whereOf = (
  {
    zoneID,
    groupID,
    search,
    name,
    ip,
    kind,
    forceBackup,
    jobFailed,
    logsLost,
    failingMonitors,
    role,
    portType,
    initialized,
    parentID,
    ids,
  }: Filter,
  now: Date,
) =>
  ({
    ...(zoneID !== undefined && { zoneId: zoneID }),
    AND: [
      groupID === undefined ? {} : { members: { some: { groupId: groupID } } },
      forceBackup === undefined ? {} : { members: { [forceBackup ? 'some' : 'none']: inForcedGroup } },
      jobFailed === undefined ? {} : hasFailedJob(jobFailed, now),
      logsLost === undefined ? {} : isLosingLogs(logsLost, now),
      failingMonitors === undefined ? {} : isFailingMonitors(failingMonitors),
    ],
    ...(search && { OR: [{ name: containing(search) }, { ip: containing(search) }, { memo: containing(search) }] }),
    ...(name && { name: containing(name) }),
    ...(ip && { ip: containing(ip) }),
    ...(role && { role }),
    ...(kind && { kind }),
    ...(portType && { portType }),
    ...(initialized !== undefined && { joinedAt: initialized ? { not: null } : null }),
    ...(parentID !== undefined && { parentId: parentID }),
    ...(ids && { id: { in: ids } }),
  }) satisfies Prisma.EdgeNodeWhereInput;

/** NOT_FOUND if the caller does not have the zone. */
export async function listInZone(ctx: Ctx, zoneID: string, query: Query) {
  await zones.own(ctx.db, zoneID);
  return list(ctx, { ...query, zoneID });
}

export function meta(
  { db }: Ctx,
  { zoneID, standalone, ...query }: MetaQuery & { zoneID?: string | undefined; standalone?: boolean | undefined },
) {
  const isStandalone = { parentId: null, subs: { none: {} } };
  const where = {
    ...namedBy(query),
    ...(zoneID !== undefined && { zoneId: zoneID }),
    ...(standalone !== undefined && (standalone ? isStandalone : { NOT: isStandalone })),
  };
  return choicesOf(db.edgeNode, where, query);
}

/** How many nodes have each status, over all zones of the caller. */
export async function counts(ctx: Ctx) {
  const found = await readHealth(ctx);
  const byStatus = Map.groupBy(found, ({ status }) => status);
  return { data: [...byStatus].map(([status, { length }]) => ({ status, count: length })), total: found.length };
}

export async function get(ctx: Ctx, id: string): Promise<EdgeNode> {
  const [node] = await shown(ctx, await ctx.db.edgeNode.findMany({ where: { id }, include }));
  return node ?? fail('NOT_FOUND');
}

export async function config({ db, now, installation }: Ctx, id: string) {
  const row = (await db.edgeNode.findUnique({ where: { id }, include })) ?? fail('NOT_FOUND');
  const state = await db.nodeState.findUnique({ where: { nodeId: id } });
  const unreadable = await db.unreadableLines.findUnique({ where: { nodeId: id }, select: { count: true } });
  return {
    status: nodeStatus({ ...row, standsIn: (await standIns(db, [row])).has(id) }, state, now()),
    currentSerial: state?.revision ?? 0,
    latestSerial: row.zone.revision,
    digest: state?.digest ?? null,
    digestAgrees: state?.digestAgrees ?? null,
    rejected: Rejected.parse(state?.rejected ?? []),
    failingPatterns: await withSiteNames(db, state?.failingPatterns ?? []),
    nginx: state?.nginx ?? null,
    capabilities: state?.capabilities ?? [],
    error: state?.error ?? null,
    unreadableLines: Number(unreadable?.count ?? 0),
    logsLost: Number(state?.logsLost ?? 0),
    logsLostAt: state?.logsLostAt ?? null,
    monitorResults: await readFindings(installation, row),
  };
}

export async function unreadableLines({ db }: Ctx, id: string): Promise<UnreadableLines> {
  const { unreadable } =
    (await db.edgeNode.findUnique({ where: { id }, select: { unreadable: true } })) ?? fail('NOT_FOUND');
  const data = z
    .array(UnreadableLine)
    .catch([])
    .parse(unreadable?.lines ?? []);
  return { data, dropped: Number(unreadable?.count ?? 0) - data.length };
}

async function withSiteNames(db: ScopedTx, stored: unknown) {
  const patterns = z.array(FailingPattern).catch([]).parse(stored);
  const ids = patterns.map(({ site }) => site).filter((id) => Id.safeParse(id).success);
  const sites = await db.site.findMany({ where: { id: { in: ids } }, select: { id: true, name: true } });
  const names = new Map(sites.map(({ id, name }) => [id, name]));
  return patterns.map((pattern) => ({ ...pattern, siteName: names.get(pattern.site) ?? null }));
}

export async function create(ctx: Ctx, { zoneID, ssh, ...input }: NodeInput) {
  const { token, ...joining } = newToken(ctx);
  const id = await ctx.db.$transaction(async (tx) => {
    const data = { ...input, cacheMaxBytes: BigInt(input.cacheMaxBytes), zoneId: zoneID, ...joining };
    if (input.portType === '4') await tx.$license.assertLayer4();
    const { id } = await orFail('DUPLICATED', tx.edgeNode.create({ data }));
    if (ssh) await tx.edgeNode.update({ where: { id }, data: sealed(ctx, id, ssh) });
    await tx.nodeState.create({ data: { nodeId: id } });
    await changed(tx, zoneID, nodeKey(id));
    await tx.$license.assertRoom('nodes');
    return id;
  });
  return { ...(await get(ctx, id)), ...shownToken(ctx, token, joining.joinEndsAt) };
}

export const shownToken = ({ installation }: Ctx, joinToken: string, expiresAt: Date) => ({
  joinToken,
  expiresAt,
  command: lineFor(installation.env, joinToken),
});

/** For a machine that was replaced or reinstalled: the certificate of the old machine is revoked. */
export async function rejoin(ctx: Ctx, id: string) {
  const { token, ...joining } = newToken(ctx);
  await ctx.db.$transaction(async (tx) => {
    await revoke(tx, [id]);
    const data = { ...joining, publicKey: null, joinedAt: null, moveToZoneId: null };
    const { zoneId } = await tx.edgeNode.update({ where: { id }, data });
    await changed(tx, zoneId, 'zone');
  });
  await linkOf(ctx.installation)?.revoke();
  return shownToken(ctx, token, joining.joinEndsAt);
}

export async function update(ctx: Ctx, { id, cacheMaxBytes, ssh, ...fields }: NodeUpdate): Promise<EdgeNode> {
  await ctx.db.$transaction(async (tx) => {
    const isForwarding = (await tx.edgeNode.count({ where: { id, portType: '4' } })) > 0;
    if (fields.portType === '4' && !isForwarding) await tx.$license.assertLayer4();
    const data = {
      ...omitUndefined(fields),
      ...(cacheMaxBytes !== undefined && { cacheMaxBytes: BigInt(cacheMaxBytes) }),
      ...(ssh && (await sshOf(ctx, tx, id, ssh))),
      ...(ssh === null && noSSH),
    };
    const members = await tx.groupMember.findMany({ where: { nodeId: id }, select: { groupId: true } });
    const assertLayer4 = await keepingLayer4(
      tx,
      members.map(({ groupId }) => groupId),
      'PORT_TYPE_4_IN_USE',
    );
    const { zoneId } = await orFail('DUPLICATED', tx.edgeNode.update({ where: { id }, data }));
    await assertLayer4();
    await changedNodes(tx, [{ id, zoneId }]);
  });
  return get(ctx, id);
}

const noSSH = {
  sshPort: null,
  sshUser: null,
  sshPasswordSealed: null,
  sshPrivateKeySealed: null,
  sshFingerprint: null,
};

/** A stored password or key is reused only for the same address and user: it must not be sent to another machine. */
async function sshOf(ctx: Ctx, tx: ScopedTx, id: string, ssh: NodeSSHUpdate) {
  const before = (await tx.edgeNode.findUnique({ where: { id } })) ?? fail('NOT_FOUND');
  const user = ssh.user ?? before.sshUser ?? 'root';
  const isOther = before.sshUser !== null && before.sshUser !== user;
  return {
    sshPort: before.sshPort ?? 22,
    ...(isOther && { sshPasswordSealed: null, sshPrivateKeySealed: null }),
    ...sealed(ctx, id, { ...ssh, user }),
  };
}

const sealed = (
  { installation: { secrets } }: Ctx,
  id: string,
  { port, user, password, privateKey, fingerprint }: NodeSSHUpdate,
) =>
  omitUndefined({
    sshPort: port,
    sshUser: user,
    sshPasswordSealed: password === undefined ? undefined : secrets.seal(password, contexts.nodePassword(id)),
    sshPrivateKeySealed: privateKey === undefined ? undefined : secrets.seal(privateKey, contexts.nodePrivateKey(id)),
    sshFingerprint: fingerprint,
  });

/**
 * With `drainSeconds`, disabled nodes continue to serve for that time. Without it, a drain in progress ends at once.
 */
export const setEnabled = (ctx: Ctx, ids: string[], enabled: boolean, drainSeconds: number) =>
  ctx.db.$transaction(async (tx) => {
    const nodes = await own(tx, ids);
    const drains = !enabled && drainSeconds > 0;
    const drainEndsAt = drains ? new Date(ctx.now().getTime() + drainSeconds * 1000) : null;
    // A drain applies only to nodes that are enabled.
    const which = { id: { in: ids }, ...(drains && { enabled: true }) };
    await tx.edgeNode.updateMany({ where: which, data: { enabled, drainEndsAt } });
    await changedNodes(tx, nodes);
    return { ids };
  });

/** Sets the same values on all nodes. `isTold`: the values are part of the nodes' documents. */
const set = (ctx: Ctx, ids: string[], data: Prisma.EdgeNodeUncheckedUpdateManyInput, isPublished: boolean) =>
  ctx.db.$transaction(async (tx) => {
    const nodes = await own(tx, ids);
    await tx.edgeNode.updateMany({ where: { id: { in: ids } }, data });
    if (isPublished) await changedNodes(tx, nodes);
    return { ids };
  });

export const setRole = (ctx: Ctx, ids: string[], role: EdgeNode['role']) => set(ctx, ids, { role }, false);
export const setGeneva = (ctx: Ctx, ids: string[], { packetSize, windowSize }: EdgeNode['geneva']) =>
  set(ctx, ids, { genevaPacketSize: packetSize, genevaWindowSize: windowSize }, true);
export const setLogRotateTime = (ctx: Ctx, ids: string[], seconds: number) =>
  set(ctx, ids, { logRotateSeconds: seconds }, true);
export const setMonitor = (ctx: Ctx, ids: string[], monitor: NodeMonitor) => set(ctx, ids, { monitor }, false);

export async function setMemo(ctx: Ctx, id: string, memo: string): Promise<EdgeNode> {
  await ctx.db.edgeNode.update({ where: { id }, data: { memo } });
  return get(ctx, id);
}

export async function subs(ctx: Ctx, id: string, query: Query) {
  await own(ctx.db, [id]);
  return list(ctx, { ...query, parentID: id });
}

/** Sub nodes belong to the same zone and have no sub nodes of their own. */
export const addSubs = ({ db }: Ctx, id: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    const [parent = fail('NOT_FOUND')] = await own(tx, [id]);
    const nodes = await own(tx, ids);
    if (parent.parentId !== null) failAt('nodeID', 'nested', 'is a sub node itself');
    const parents = await tx.edgeNode.findMany({
      where: { parentId: { in: ids } },
      select: { parentId: true },
      distinct: ['parentId'],
    });
    nodes.forEach((node, i) => {
      if (node.id === id) failAt(`ids.${i}`, 'self', 'is the node itself');
      if (node.zoneId !== parent.zoneId) failAt(`ids.${i}`, 'zone', `${node.name} is of another zone`);
      if (parents.some(({ parentId }) => parentId === node.id))
        failAt(`ids.${i}`, 'nested', `${node.name} has sub nodes itself`);
    });
    await tx.edgeNode.updateMany({ where: { id: { in: ids } }, data: { parentId: id } });
    return { ids };
  });

export const removeSubs = ({ db }: Ctx, id: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    await own(tx, [id, ...ids]);
    await tx.edgeNode.updateMany({ where: { id: { in: ids }, parentId: id }, data: { parentId: null } });
    return { ids };
  });

export async function remove({ db, installation }: Ctx, ids: string[]) {
  await db.$transaction(async (tx) => {
    const nodes = await own(tx, ids);
    const enabled = nodes.filter((node) => node.enabled);
    if (enabled.length > 0)
      fail('STILL_ENABLED', { errorData: enabled.map(({ id, name }) => ({ id, name, rule: 'enabled' })) });
    await assertUnplaced(tx, ids);
    await revoke(tx, ids);
    // A node may be placed on a line at this moment: the foreign key decides.
    await orInUse('NODE_IN_GROUP', tx.edgeNode.deleteMany({ where: { id: { in: ids } } }));
    await changedNodes(tx, nodes);
  });
  await linkOf(installation)?.revoke();
  return { ids };
}

/** Fails for nodes that answer for a line: they must be removed from it first. Each is named once. */
export async function assertUnplaced(tx: ScopedTx, ids: string[]) {
  const members = await tx.groupMember.findMany({
    where: { nodeId: { in: ids } },
    select: { node: { select: { id: true, name: true } }, group: { select: { name: true } }, line: true },
    distinct: ['nodeId'],
    orderBy: { nodeId: 'asc' },
  });
  const records = await tx.virtualRecord.findMany({
    where: { nodeId: { in: ids } },
    select: { node: { select: { id: true, name: true } }, virtualNode: { select: { name: true } } },
    distinct: ['nodeId'],
    orderBy: { nodeId: 'asc' },
  });
  if (members.length > 0)
    fail('NODE_IN_GROUP', {
      errorData: members.map(({ node, group, line }) => ({ ...node, group: group.name, line, rule: 'inUse' })),
    });
  if (records.length > 0)
    fail('NODE_IN_VIRTUAL_NODE', {
      errorData: records.map(({ node, virtualNode }) => ({ ...node, virtualNode: virtualNode.name, rule: 'inUse' })),
    });
}

/** All or none: NOT_FOUND if the caller lacks one of them. */
export async function own(tx: ScopedTx, ids: string[]) {
  const select = { id: true, zoneId: true, name: true, enabled: true, joinedAt: true, parentId: true };
  const nodes = await tx.edgeNode.findMany({ where: { id: { in: ids } }, select });
  if (nodes.length !== new Set(ids).size) fail('NOT_FOUND');
  return nodes;
}

/** Publishes the zone too, since its document lists the relays. */
async function changedNodes(tx: ScopedTx, nodes: { id: string; zoneId: string }[]) {
  for (const [zoneId, inZone] of Map.groupBy(nodes, (node) => node.zoneId))
    await changed(tx, zoneId, 'zone', ...inZone.map(({ id }) => nodeKey(id)));
}

/** Records the revocation in the transaction; NATS is updated after it. */
async function revoke(tx: ScopedTx, ids: string[]) {
  const nodes = await tx.edgeNode.findMany({ where: { id: { in: ids } }, select: { publicKey: true } });
  const keys = nodes.flatMap(({ publicKey }) => (publicKey === null ? [] : [{ publicKey }]));
  if (keys.length > 0) await tx.revokedKey.createMany({ data: keys, skipDuplicates: true });
}

export function newToken({ now }: Ctx, goodForMs = JOIN_MS) {
  const token = randomBytes(32).toString('base64url');
  return { token, joinHash: tokenHash(token), joinEndsAt: new Date(now().getTime() + goodForMs) };
}
