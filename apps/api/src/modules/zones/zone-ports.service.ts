// What every node of a zone listens on: structure, so a change renders files on the nodes and reloads them.
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import type { ZonePort, ZonePortInput } from '@edgeloom/contract/zones/zones.ts';
import { changed } from '../../core/changes.ts';
import { conflictIn } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { ZonePort as Row } from '../../generated/client.ts';
import * as zones from './zones.service.ts';

export async function list({ db }: Ctx, zoneId: string) {
  await zones.own(db, zoneId);
  return { data: await portsOf(db, zoneId) };
}

export async function portsOf(db: ScopedTx, zoneId: string): Promise<ZonePort[]> {
  const rows = await db.zonePort.findMany({ where: { zoneId }, orderBy: { port: 'asc' } });
  return rows.map(portOf);
}

export const create = ({ db }: Ctx, zoneId: string, input: ZonePortInput): Promise<ZonePort> =>
  db.$transaction(async (tx) => {
    const row = await orTaken(tx.zonePort.create({ data: { ...input, zoneId } }));
    await changed(tx, zoneId, 'zone');
    return portOf(row);
  });

export const update = (
  { db }: Ctx,
  zoneId: string,
  { id, ...input }: ZonePortInput & { id: string },
): Promise<ZonePort> =>
  db.$transaction(async (tx) => {
    const before = (await tx.zonePort.findFirst({ where: { id, zoneId } })) ?? fail('NOT_FOUND');
    if (before.port !== input.port) await assertUnmapped(tx, zoneId, [before.port]);
    const row = await orTaken(tx.zonePort.update({ where: { id, zoneId }, data: input }));
    await changed(tx, zoneId, 'zone', ...(await openedBy(tx, [id])));
    return portOf(row);
  });

export const remove = ({ db }: Ctx, zoneId: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    await zones.own(tx, zoneId);
    const where = { zoneId, id: { in: ids } };
    const rows = await tx.zonePort.findMany({ where });
    if (rows.length !== new Set(ids).size) fail('NOT_FOUND');
    await assertUnmapped(
      tx,
      zoneId,
      rows.map(({ port }) => port),
    );
    const opened = await openedBy(tx, ids);
    await tx.zonePort.deleteMany({ where });
    await changed(tx, zoneId, 'zone', ...opened);
    return { ids };
  });

/** The documents of the sites that have opened them. */
async function openedBy(tx: ScopedTx, ids: string[]): Promise<string[]> {
  const rows = await tx.sitePort.findMany({ where: { zonePortId: { in: ids } }, select: { siteId: true } });
  return rows.map(({ siteId }) => siteKey(siteId));
}

/** By the zone itself, or by somebody's forward. */
const orTaken = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    const index = conflictIn(error);
    if (index === null) throw error;
    fail(index.includes('port_claims') ? 'SITE_HAS_L4_PORTS' : 'DUPLICATED', { cause: error });
  }
};

/** A domain that maps the port to one of its origin's would be left with a mapping of nothing. */
async function assertUnmapped(tx: ScopedTx, zoneId: string, ports: number[]) {
  const mapping = ports.map((from) => ({ portMap: { array_contains: [{ from }] } }));
  const found = await tx.domain.findFirst({ where: { site: { zoneId }, OR: mapping }, select: { portMap: true } });
  if (found) fail('INCONSISTENT_PORTS');
}

const portOf = ({ id, port, tls, createdAt }: Row): ZonePort => ({ id, port, portType: 7, tls, createdAt });
