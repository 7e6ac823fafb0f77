import { randomUUIDv7 } from 'node:crypto';
import { BlockList } from 'node:net';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { Block, BlockColumn, BlockInput, Ipset } from '@edgeloom/contract/ipset/ipset.ts';
import { networkOf } from '@edgeloom/contract/ipset/network.ts';
import type { AllSettings } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { NOBODY } from '../../core/actor.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt, fieldError } from '../../core/fail.ts';
import { beginning, pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { signedInNow } from '../../core/signed-in-addresses.ts';
import type { Prisma } from '../../generated/client.ts';
import { readContent } from '../zone-settings/zone-changes.service.ts';
import * as zoneSettings from '../zone-settings/zone-settings.service.ts';
import * as zones from '../zones/zones.service.ts';

type Query = Paging<(typeof BlockColumn)[number]> & { ip?: string | undefined; causes?: string[] | undefined };

const named = { select: { id: true, name: true } } as const;
const include = { site: named, node: named } satisfies Prisma.BlockInclude;
type Row = Prisma.BlockGetPayload<{ include: typeof include }>;

export async function get({ db, now }: Ctx, zoneId: string, { ip, causes, sortBy, ...paging }: Query) {
  await zones.own(db, zoneId);
  const [{ ipset }, set] = await Promise.all([readContent(db, zoneId), db.blockSet.findUnique({ where: { zoneId } })]);
  const standing = live(zoneId, set?.flushed, now());
  const where = {
    ...standing,
    ...(ip && { network: networkOf(ip) ?? beginning(ip) }),
    ...(causes && { cause: { in: causes } }),
  };
  const page = pageOf({ ...paging, sortBy: sortBy === 'ip' ? 'network' : sortBy });
  const serving = servingIn(zoneId);
  const [rows, size, total, nodes, holding, faulty, faultCount] = await Promise.all([
    db.block.findMany({ where, include, ...page }),
    db.block.count({ where: standing }),
    ip || causes ? db.block.count({ where }) : null,
    db.edgeNode.count({ where: serving }),
    db.blockHolder.count({ where: { node: serving, revision: { gte: set?.revision ?? 0n } } }),
    readFaults(db, serving, { skip: 0, take: 100 }),
    db.blockHolder.count({ where: isFaulty(serving) }),
  ]);
  const faults = ipset.enabled ? faulty.map(({ node, fault }) => ({ node: node.name, error: fault })) : [];
  return {
    ...ipset,
    size,
    refused: Number(set?.refused ?? 0n),
    nodes,
    holding,
    faults,
    faultCount: ipset.enabled ? faultCount : 0,
    data: rows.map(shown),
    total: total ?? size,
  };
}

const servingIn = (zoneId: string) => ({ zoneId, kind: 'edge', enabled: true, joinedAt: { not: null } });
const isFaulty = (node: Prisma.EdgeNodeWhereInput) => ({ node, fault: { not: '' } });
const readFaults = (
  db: Ctx['db'],
  serving: Prisma.EdgeNodeWhereInput,
  page: { skip: number; take: number; orderBy?: 'asc' | 'desc' },
) => {
  const { orderBy = 'asc', ...range } = page;
  return db.blockHolder.findMany({
    where: isFaulty(serving),
    include: { node: named },
    orderBy: [{ node: { name: orderBy } }, { nodeId: orderBy }],
    ...range,
  });
};

/** Nodes whose kernel does not enforce the set. */
export async function faults({ db }: Ctx, zoneId: string, { page, pageSize, orderBy }: Paging<'name'>) {
  await zones.own(db, zoneId);
  const { ipset } = await readContent(db, zoneId);
  if (!ipset.enabled) return { data: [], total: 0 };
  const serving = servingIn(zoneId);
  const [rows, total] = await Promise.all([
    readFaults(db, serving, { skip: (page - 1) * pageSize, take: pageSize, orderBy }),
    db.blockHolder.count({ where: isFaulty(serving) }),
  ]);
  return { data: rows.map(({ node, fault }) => ({ node, error: fault })), total };
}

export const set = (ctx: Ctx, zoneId: string, { reason, ...ipset }: Ipset & { reason: string }): Promise<AllSettings> =>
  zoneSettings.set(ctx, zoneId, reason, { ipset });

/** Takes effect at once, without waves: rows of earlier revisions are ignored, however many there are. */
export const flush = ({ db, now }: Ctx, zoneId: string): Promise<{ removed: number }> =>
  db.$transaction(async (tx) => {
    const before = await lockSet(tx, zoneId);
    const removed = await tx.block.count({ where: live(zoneId, before.flushed, now()) });
    await tx.blockSet.update({ where: { zoneId }, data: { flushed: before.revision, refused: 0n } });
    return { removed };
  });

export async function create(ctx: Ctx, zoneId: string, { ips, timeout }: BlockInput) {
  const { db, actor, now } = ctx;
  const networks = [...new Set(ips.flatMap((ip) => networkOf(ip) ?? []))];
  const signedIn = await signedInNow(ctx, zoneId, networks);
  return db.$transaction(async (tx) => {
    const { flushed, revision } = await lockSet(tx, zoneId);
    const { ipset, firewall } = await readContent(tx, zoneId);
    if (!ipset.enabled) failAt('ips', 'setOff', 'the block set is off');
    const spared = await sparedIn(tx, zoneId, firewall.whitelist);
    const faults = ips.flatMap((ip, i) =>
      spared(ip) || signedIn.has(networkOf(ip) ?? '')
        ? [fieldError(`ips.${i}`, 'forbidden', 'this address is not allowed')]
        : [],
    );
    if (faults.length > 0) fail('PARAMETER', { errorData: faults });
    const standing = live(zoneId, flushed, now());
    const others = await tx.block.count({ where: { ...standing, network: { notIn: networks } } });
    if (others + networks.length > ipset.max) fail('LIMIT_REACHED', { extra: { maximum: ipset.max } });
    // A block that exists for another reason takes this reason.
    await tx.block.deleteMany({ where: { zoneId, scope: NOBODY, network: { in: networks } } });
    const since = now();
    const until = new Date(since.getTime() + (timeout ?? ipset.timeout) * 1000);
    const made = networks.map((network) => ({
      id: randomUUIDv7(),
      zoneId,
      network,
      cause: 'manual',
      author: actor.name,
      since,
      until,
      revision,
    }));
    await tx.block.createMany({ data: made });
    return { data: made.map((row) => shown({ ...row, site: null, node: null })) };
  });
}

export const remove = ({ db, now }: Ctx, zoneId: string, ids: string[]): Promise<{ ids: string[] }> =>
  db.$transaction(async (tx) => {
    const { flushed, revision } = await lockSet(tx, zoneId);
    const { count } = await tx.block.updateMany({
      where: { ...live(zoneId, flushed, now()), id: { in: ids } },
      data: { removed: true, revision },
    });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

/** Blocks of the whole zone. Those of single sites are in block-ips.service.ts. */
const live = (zoneId: string, flushed: bigint | undefined, at: Date) => ({
  zoneId,
  scope: NOBODY,
  removed: false,
  until: { gt: at },
  revision: { gt: flushed ?? 0n },
});

/** Locks the set for one change and returns its revision; other changes of the set wait. */
async function lockSet(tx: ScopedTx, zoneId: string) {
  await zones.own(tx, zoneId);
  await tx.blockSet.createMany({ data: [{ zoneId }], skipDuplicates: true });
  return tx.blockSet.update({ where: { zoneId }, data: { revision: { increment: 1n } } });
}

/** Addresses that a zone never blocks: its nodes and its allow list. */
async function sparedIn(tx: ScopedTx, zoneId: string, whitelist: readonly string[]): Promise<(ip: string) => boolean> {
  const nodes = await tx.edgeNode.findMany({ where: { zoneId }, select: { ip: true } });
  const own = new Set(['127.0.0.1', '::1', ...nodes.map(({ ip }) => ip)].map(networkOf));
  const trusted = new BlockList();
  for (const network of whitelist) {
    const [address = '', bits] = network.split('/');
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  return (ip) => own.has(networkOf(ip)) || trusted.check(ip.replace(/\/64$/, ''), ip.includes(':') ? 'ipv6' : 'ipv4');
}

const shown = ({
  id,
  network,
  cause,
  site,
  node,
  author,
  since,
  until,
}: Omit<Row, 'zoneId' | 'siteId' | 'nodeId' | 'scope' | 'rule' | 'removed' | 'removedBy' | 'revision'>): Block => ({
  id,
  ip: network,
  cause,
  site,
  node,
  author,
  since,
  until,
});
