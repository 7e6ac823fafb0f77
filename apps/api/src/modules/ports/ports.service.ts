// Port forwards (layer 4) of a site. A port of a zone belongs to one site; the claim decides
// (prisma/schema/ports.prisma).
import { randomUUIDv7 } from 'node:crypto';
import type { UpstreamInput } from '@edgeloom/contract/domains/domains.ts';
import { portKey } from '@edgeloom/contract/edge/documents.ts';
import { readPortLine } from '@edgeloom/contract/ports/port-lines.ts';
import {
  forwardFaults,
  Method,
  type Port,
  Protocol,
  type ForwardInput,
  type ForwardUpdate,
} from '@edgeloom/contract/ports/ports.ts';
import { changed } from '../../core/changes.ts';
import { claimedPorts, portName } from '../../core/claimed-ports.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt, fieldError, type Fault } from '../../core/fail.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { originSettingsOf } from '../../core/origin-settings.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { Prisma } from '../../generated/client.ts';
import { originFaults } from '../domains/create-domains.service.ts';
import { failOnce } from '../domains/domains.service.ts';
import { limitsOf } from '../sites/limits.ts';
import * as sites from '../sites/sites.service.ts';
import { portsOf as zonePortsOf } from '../zones/zone-ports.service.ts';
import { countPorts, readPorts, type PortFilter, type PortPaging } from './ports.queries.ts';

const include = {
  upstreams: {
    select: { id: true, address: true, port: true, weight: true, backup: true, enabled: true },
    orderBy: { id: 'asc' },
  },
  site: { select: { zoneId: true } },
} satisfies Prisma.PortRuleInclude;

export interface InPort {
  siteId: string;
  portId: string;
}

export async function list(
  ctx: Ctx,
  siteId: string,
  { page, pageSize, sortBy, orderBy, ...filter }: PortPaging & PortFilter,
) {
  await sites.own(ctx.db, siteId);
  const [data, total] = await Promise.all([
    readPorts(ctx, siteId, { page, pageSize, sortBy, orderBy }, filter),
    countPorts(ctx, siteId, filter),
  ]);
  return { data, total };
}

export async function create(ctx: Ctx, siteId: string, forwards: ForwardInput[]) {
  const allowed = await originSettingsOf(ctx);
  const faults = forwards.flatMap(({ upstreams }, i) => originFaults(allowed, upstreams, `ports.${i}.upstreams`));
  if (faults.length > 0) fail('PARAMETER', { errorData: faults });
  return insert(
    ctx,
    siteId,
    forwards.map((forward) => ({ target: portName(forward), forward })),
  );
}

/**
 * One port forward per line. Lines that cannot be parsed or have forbidden origins are reported together with other
 * errors.
 */
export async function createLines(ctx: Ctx, siteId: string, lines: string[]) {
  const allowed = await originSettingsOf(ctx);
  const read = lines.map((line, i) => {
    const found = readPortLine(line);
    if ('fault' in found)
      return { line, faults: [fieldError(`lines.${i}`, found.fault, `not understood: ${found.part}`)] };
    const [forbidden] = originFaults(allowed, found.forward.upstreams, '');
    return { line, ...found, faults: forbidden ? [fieldError(`lines.${i}`, forbidden.rule, forbidden.message)] : [] };
  });
  if (lines.length === 1 && read[0]?.faults[0]) fail('PARAMETER', { errorData: read[0].faults });
  return insert(
    ctx,
    siteId,
    read.flatMap(({ line, ...one }) => ('forward' in one ? [{ target: line, forward: one.forward }] : [])),
    read.flatMap(({ line, faults }): Fault[] =>
      faults.slice(0, 1).map(({ rule }) => ({ reason: 'PARAMETER', target: line, rule })),
    ),
  );
}

interface New {
  /** The name in error messages. */
  target: string;
  forward: ForwardInput;
}

async function insert(ctx: Ctx, siteId: string, entries: New[], known: Fault[] = []) {
  const { zoneId } = await sites.own(ctx.db, siteId);
  const claimed = await claimedPorts(
    ctx.installation,
    zoneId,
    entries.map(({ forward }) => forward.port),
  );
  return ctx.db.$transaction(async (tx) => {
    const limit = limitsOf(await sites.lock(tx, siteId)).portLimit;
    if (limit > 0 && (await tx.portRule.count({ where: { siteId } })) + entries.length > limit)
      fail('PORT_LIMIT', { extra: { limit } });
    const layer7 = new Set((await zonePortsOf(tx, zoneId)).map(({ port }) => port));

    const seen = new Set<string>();
    const faults = [...known];
    for (const { target, forward } of entries) {
      const name = portName(forward);
      if (layer7.has(forward.port)) faults.push({ reason: 'INCONSISTENT_PORTS', target });
      else if (seen.has(name) || claimed.has(name)) faults.push({ reason: 'DUPLICATED', target });
      if (!forward.upstreams.some(({ enabled }) => enabled)) faults.push({ reason: 'NO_ENABLED_UPSTREAM', target });
      seen.add(name);
    }
    failOnce(faults, entries.length + known.length);
    await tx.$license.assertLayer4();

    const rows = entries.map(({ forward: { upstreams, ...columns } }) => ({ id: randomUUIDv7(), upstreams, columns }));
    await orFail(
      'DUPLICATED',
      tx.portRule.createMany({ data: rows.map(({ id, columns }) => ({ ...columns, id, siteId })) }),
    );
    await tx.portUpstream.createMany({
      data: rows.flatMap(({ id, upstreams }) => upstreams.map((upstream) => ({ ...upstream, portRuleId: id }))),
    });
    await changed(tx, zoneId, ...rows.filter(({ columns }) => columns.enabled).map(({ id }) => portKey(id)));
    return { ids: rows.map(({ id }) => id) };
  });
}

export async function update(ctx: Ctx, place: InPort, { upstreams, ...fields }: ForwardUpdate): Promise<Port> {
  const faults = originFaults(await originSettingsOf(ctx), upstreams ?? [], 'upstreams');
  if (faults.length > 0) fail('PARAMETER', { errorData: faults });
  if (upstreams && !upstreams.some(({ enabled }) => enabled)) fail('NO_ENABLED_UPSTREAM');
  return ctx.db.$transaction(async (tx) => {
    const before = await lock(tx, place);
    const data = omitUndefined(fields);
    assertConsistent({ ...before, ...data, ...(upstreams && { upstreams }) });
    if (upstreams) await replaceUpstreams(tx, before, upstreams);
    if (data.port !== undefined && data.port !== before.port) {
      const layer7 = await zonePortsOf(tx, before.site.zoneId);
      if (layer7.some(({ port }) => port === data.port)) fail('INCONSISTENT_PORTS', { extra: { port: data.port } });
    }
    const where = { id: place.portId, siteId: place.siteId };
    const row = await orFail('DUPLICATED', tx.portRule.update({ where, data, include }));
    await changed(tx, row.site.zoneId, portKey(row.id));
    return portOf(row);
  });
}

/** Origins with the same address and port keep their id. Prisma numbers the new ones in their order, as at creation. */
async function replaceUpstreams(tx: ScopedTx, { id: portRuleId, upstreams: before }: Row, upstreams: UpstreamInput[]) {
  const known = new Map(before.map(({ id, address, port }) => [`${address} ${port}`, id]));
  await tx.portUpstream.deleteMany({ where: { portRuleId } });
  await tx.portUpstream.createMany({
    data: upstreams.map((upstream) => {
      const id = known.get(`${upstream.address} ${upstream.port}`);
      return { ...upstream, portRuleId, ...(id !== undefined && { id }) };
    }),
  });
}

export const setStatus = ({ db }: Ctx, siteId: string, { ids, enabled }: { ids: string[]; enabled: boolean }) =>
  db.$transaction(async (tx) => {
    const { zoneId } = await sites.own(tx, siteId);
    const { count } = await tx.portRule.updateMany({ where: { siteId, id: { in: ids } }, data: { enabled } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    await changed(tx, zoneId, ...ids.map(portKey));
    return { ids };
  });

export const remove = ({ db }: Ctx, siteId: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { zoneId } = await sites.own(tx, siteId);
    const where = { siteId, id: { in: ids } };
    const rows = await tx.portRule.findMany({ where, select: { port: true, protocol: true, enabled: true } });
    if (rows.length !== new Set(ids).size) fail('NOT_FOUND');
    const enabled = rows.filter((row) => row.enabled).map(portName);
    if (enabled.length > 0) fail('STILL_ENABLED', { errorData: [{ rule: 'enabled', targets: enabled }] });
    // Only disabled ones: a port forward that is enabled at this moment stays.
    const { count } = await tx.portRule.deleteMany({ where: { ...where, enabled: false } });
    if (count !== rows.length) fail('STILL_ENABLED');
    await changed(tx, zoneId, ...ids.map(portKey));
    return { ids };
  });

/** Locks a port forward of the site with its origins until the transaction ends. */
export const lock = (tx: ScopedTx, { siteId, portId }: InPort) =>
  tx.portRule
    .update({ where: { id: portId, siteId }, data: { updatedAt: new Date() }, include })
    .then((row) => ({ ...row, ...shape(row) }));

/** Settings and origins change by separate calls, but must match. */
export function assertConsistent(forward: Parameters<typeof forwardFaults>[0]) {
  const [fault] = forwardFaults(forward);
  if (fault) failAt(fault.path.join('.'), 'rule', fault.message);
}

type Row = Prisma.PortRuleGetPayload<{ include: typeof include }>;
const shape = ({ protocol, method }: Row) => ({ protocol: Protocol.parse(protocol), method: Method.parse(method) });

const portOf = (row: Row): Port => ({ ...row, ...shape(row), portType: 4, tls: false });
