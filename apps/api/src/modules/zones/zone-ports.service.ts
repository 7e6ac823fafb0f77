// The HTTP ports of a zone's nodes. They are part of the nginx files, so a change reloads nginx.
import { isSame } from '@edgeloom/contract/zone-settings/changes.ts';
import type { ZoneContent } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import type { ZonePort, ZonePortInput } from '@edgeloom/contract/zones/zones.ts';
import { conflictIn } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failTogether } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { ZonePort as Row } from '../../generated/client.ts';
import { linkOf } from '../../node-link/start.ts';
import { settingsOf, withPorts } from '../../zone-settings/zone-content.ts';
import { change } from '../zone-settings/zone-changes.service.ts';
import * as zones from './zones.service.ts';

export async function list({ db }: Ctx, zoneId: string) {
  await zones.own(db, zoneId);
  return { data: await portsOf(db, zoneId) };
}

export async function portsOf(db: ScopedTx, zoneId: string): Promise<ZonePort[]> {
  const rows = await db.zonePort.findMany({ where: { zoneId }, orderBy: { port: 'asc' } });
  return rows.map(portOf);
}

/** For nodes that are connected: they only try to listen. */
const ANSWER_MS = 2000;

type Reasoned<T> = T & { reason?: string };

export async function create(
  ctx: Ctx,
  zoneId: string,
  { reason, ...input }: Reasoned<ZonePortInput>,
): Promise<ZonePort> {
  await assertUnheld(ctx, zoneId, input);
  return change(ctx, {
    zoneId,
    reason,
    work: async (tx, content) => {
      const made = await orTaken(tx.zonePort.create({ data: { ...input, zoneId } }));
      await updateProxyProtocol(tx, zoneId, content);
      return portOf(made);
    },
  });
}

export async function update(
  ctx: Ctx,
  zoneId: string,
  { id, reason, ...input }: Reasoned<ZonePortInput & { id: string }>,
): Promise<ZonePort> {
  await assertUnheld(ctx, zoneId, input);
  return change(ctx, {
    zoneId,
    reason,
    work: async (tx, content) => {
      const before = (await tx.zonePort.findFirst({ where: { id, zoneId } })) ?? fail('NOT_FOUND');
      if (before.port !== input.port) await assertUnmapped(tx, zoneId, [before.port]);
      const after = await orTaken(tx.zonePort.update({ where: { id, zoneId }, data: input }));
      await updateProxyProtocol(tx, zoneId, content);
      return portOf(after);
    },
  });
}

export const remove = (ctx: Ctx, zoneId: string, { ids, reason }: Reasoned<{ ids: string[] }>) =>
  change(ctx, {
    zoneId,
    reason,
    work: async (tx, content) => {
      const where = { zoneId, id: { in: ids } };
      const rows = await tx.zonePort.findMany({ where });
      if (rows.length !== new Set(ids).size) fail('NOT_FOUND');
      await assertUnmapped(
        tx,
        zoneId,
        rows.map(({ port }) => port),
      );
      await tx.zonePort.deleteMany({ where });
      await updateProxyProtocol(tx, zoneId, content);
      return { ids };
    },
  });

/** Writes which ports have PROXY protocol after a change of ports. A new port has none, whatever had its number. */
async function updateProxyProtocol(tx: ScopedTx, zoneId: string, before: ZoneContent): Promise<void> {
  const after = withPorts(before, await tx.zonePort.findMany({ where: { zoneId } }));
  if (isSame({ ...after, ports: before.ports }, before)) return;
  await tx.zone.update({ where: { id: zoneId }, data: { settings: settingsOf(after) } });
}

/** Restores these ports. Ports that sites opened since then and that no longer exist are removed. */
export async function restorePorts(tx: ScopedTx, zoneId: string, ports: ZoneContent['ports']): Promise<void> {
  const present = await tx.zonePort.findMany({ where: { zoneId } });
  const ids = new Set(ports.map(({ id }) => id));
  const going = present.filter(
    ({ id, port }) => !ids.has(id) || !ports.some((one) => one.id === id && one.port === port),
  );
  await assertUnmapped(
    tx,
    zoneId,
    going.map(({ port }) => port).filter((port) => !ports.some((one) => one.port === port)),
  );
  await tx.zonePort.deleteMany({ where: { zoneId, id: { in: present.flatMap(({ id }) => (ids.has(id) ? [] : id)) } } });
  // A restored port may have the number of another one by now: that one is renumbered first.
  for (const { id, port } of ports) {
    const before = present.find((one) => one.id === id);
    if (before && before.port !== port)
      await tx.zonePort.update({ where: { id, zoneId }, data: { port: -before.port } });
  }
  for (const { id, port, tls } of ports) {
    const before = present.find((one) => one.id === id);
    if (!before) await orTaken(tx.zonePort.create({ data: { id, zoneId, port, tls } }));
    else if (before.port !== port || before.tls !== tls)
      await orTaken(tx.zonePort.update({ where: { id, zoneId }, data: { port, tls } }));
  }
}

/**
 * Asks the nodes before storing whether another program uses the port. The error then names the program, instead of a
 * failed rollout. Offline or outdated nodes check the port when they apply the change.
 */
async function assertUnheld(
  { db, installation }: Ctx,
  zoneId: string,
  { port, tls }: Pick<ZonePortInput, 'port' | 'tls'>,
) {
  await zones.own(db, zoneId);
  const link = linkOf(installation);
  if (link === null) return;
  const nodes = await db.edgeNode.findMany({
    where: { zoneId, enabled: true, state: { connectedAt: { not: null } } },
    select: { id: true, name: true },
  });
  const body = { ports: [{ port, tls }] };
  const answers = await Promise.all(
    nodes.map(async ({ id, name }) => ({
      name,
      answer: await link.order(id, { name: 'heldPorts', body, waitMs: ANSWER_MS }),
    })),
  );
  failTogether(
    answers.flatMap(({ name, answer }) =>
      typeof answer !== 'string' && answer.held?.includes(port) === true
        ? [{ reason: 'PORT_HELD' as const, target: `${name}: ${port}` }]
        : [],
    ),
  );
}

/** The port is taken by the zone or by a port forward. */
const orTaken = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    const index = conflictIn(error);
    if (index === null) throw error;
    fail(index.includes('port_claims') ? 'SITE_HAS_L4_PORTS' : 'DUPLICATED', { cause: error });
  }
};

/** Fails if a domain maps one of these ports. */
async function assertUnmapped(tx: ScopedTx, zoneId: string, ports: number[]) {
  const mapping = ports.map((from) => ({ portMap: { array_contains: [{ from }] } }));
  const found = await tx.domain.findFirst({ where: { site: { zoneId }, OR: mapping }, select: { portMap: true } });
  if (found) fail('INCONSISTENT_PORTS');
}

const portOf = ({ id, port, tls, createdAt }: Row): ZonePort => ({ id, port, portType: 7, tls, createdAt });
