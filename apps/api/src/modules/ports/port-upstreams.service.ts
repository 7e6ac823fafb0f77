import type { Upstream, UpstreamInput } from '@edgeloom/contract/domains/domains.ts';
import { portKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from '../../core/changes.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { originSettingsOf } from '../../core/origin-settings.ts';
import { containing } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { originFaults } from '../domains/create-domains.service.ts';
import { assertFewAndDistinct } from '../domains/upstreams.service.ts';
import { assertConsistent, lock, type InPort } from './ports.service.ts';

const select = { id: true, address: true, port: true, weight: true, backup: true, enabled: true } as const;

interface Query {
  keyword?: string | undefined;
  sortBy: 'address' | 'port' | 'weight';
  orderBy: 'asc' | 'desc';
}

export async function list({ db }: Ctx, { siteId, portId }: InPort, { keyword, sortBy, orderBy }: Query) {
  if ((await db.portRule.count({ where: { id: portId, siteId } })) === 0) fail('NOT_FOUND');
  const where = { portRuleId: portId, ...(keyword && { address: containing(keyword) }) };
  return { data: await db.portUpstream.findMany({ where, select, orderBy: [{ [sortBy]: orderBy }, { id: 'asc' }] }) };
}

export async function create(ctx: Ctx, place: InPort, upstreams: UpstreamInput[]) {
  await assertAllowed(ctx, upstreams);
  return within(ctx, place, async (tx) => {
    await tx.portUpstream.createMany({
      data: upstreams.map((upstream) => ({ ...upstream, portRuleId: place.portId })),
    });
  });
}

export async function update(ctx: Ctx, place: InPort, upstreams: (UpstreamInput & { id: string })[]) {
  await assertAllowed(ctx, upstreams);
  return within(ctx, place, async (tx) => {
    const ids = upstreams.map(({ id }) => id);
    const { count } = await tx.portUpstream.deleteMany({ where: { portRuleId: place.portId, id: { in: ids } } });
    if (count !== ids.length) fail('NOT_FOUND');
    // Deletes and inserts under the same ids: two statements for any number, and two origins may swap addresses.
    await tx.portUpstream.createMany({
      data: upstreams.map((upstream) => ({ ...upstream, portRuleId: place.portId })),
    });
  });
}

export const remove = (ctx: Ctx, place: InPort, ids: string[]) =>
  within(ctx, place, async (tx) => {
    const { count } = await tx.portUpstream.deleteMany({ where: { portRuleId: place.portId, id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
  });

/** Changes the origins of one port forward and returns all of them. At least one enabled origin must remain. */
const within = ({ db }: Ctx, place: InPort, work: (tx: ScopedTx) => Promise<void>): Promise<{ data: Upstream[] }> =>
  db.$transaction(async (tx) => {
    const forward = await lock(tx, place);
    await orFail('DUPLICATED', work(tx));
    const where = { portRuleId: place.portId };
    const data = await tx.portUpstream.findMany({ where, select, orderBy: { id: 'asc' } });
    if (!data.some(({ enabled }) => enabled)) fail('NO_ENABLED_UPSTREAM');
    assertFewAndDistinct(data);
    assertConsistent({ ...forward, upstreams: data });
    await changed(tx, forward.site.zoneId, portKey(place.portId));
    return { data };
  });

async function assertAllowed(ctx: Ctx, upstreams: readonly UpstreamInput[]) {
  const faults = originFaults(await originSettingsOf(ctx), upstreams, 'upstreams');
  if (faults.length > 0) fail('PARAMETER', { errorData: faults });
}
