import { canonicalNetwork } from '@edgeloom/contract/common/address.ts';
import { UPSTREAMS_AT_MOST, type Upstream, type UpstreamInput } from '@edgeloom/contract/domains/domains.ts';
import { hostKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from '../../core/changes.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { originSettingsOf } from '../../core/origin-settings.ts';
import { containing } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { readOriginTraffic } from '../../statistics/read-rules-and-attempts.ts';
import { originFaults } from './create-domains.service.ts';
import { readHealth } from './domains.queries.ts';
import type { InDomain } from './domains.service.ts';

const select = { id: true, address: true, port: true, weight: true, backup: true, enabled: true } as const;

interface Query {
  keyword?: string | undefined;
  sortBy: 'address' | 'port' | 'weight';
  orderBy: 'asc' | 'desc';
}

export async function list({ db }: Ctx, place: InDomain, { keyword, sortBy, orderBy }: Query) {
  await own(db, place);
  const where = { ...place, ...(keyword && { address: containing(keyword) }) };
  return { data: await db.upstream.findMany({ where, select, orderBy: [{ [sortBy]: orderBy }, { id: 'asc' }] }) };
}

export async function health(ctx: Ctx, place: InDomain) {
  await own(ctx.db, place);
  return { data: await readHealth(ctx, place.siteId, place.domainId) };
}

export async function traffic(ctx: Ctx, place: InDomain) {
  await own(ctx.db, place);
  const select = { id: true, address: true, port: true } as const;
  return readOriginTraffic(ctx, place, await ctx.db.upstream.findMany({ where: { ...place }, select }));
}

export async function create(ctx: Ctx, place: InDomain, upstreams: UpstreamInput[]) {
  await assertAllowed(ctx, upstreams);
  return within(ctx, place, async (tx) => {
    await tx.upstream.createMany({ data: upstreams.map((upstream) => ({ ...upstream, ...place })) });
  });
}

export async function update(ctx: Ctx, place: InDomain, upstreams: (UpstreamInput & { id: string })[]) {
  await assertAllowed(ctx, upstreams);
  return within(ctx, place, async (tx) => {
    const ids = upstreams.map(({ id }) => id);
    const { count } = await tx.upstream.deleteMany({ where: { ...place, id: { in: ids } } });
    if (count !== ids.length) fail('NOT_FOUND');
    // Deletes and inserts under the same ids: two statements for any number, and two origins may swap addresses.
    await tx.upstream.createMany({ data: upstreams.map((upstream) => ({ ...upstream, ...place })) });
  });
}

export const remove = (ctx: Ctx, place: InDomain, ids: string[]) =>
  within(ctx, place, async (tx) => {
    const { count } = await tx.upstream.deleteMany({ where: { ...place, id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
  });

/** Changes the origins of one domain and returns all of them. At least one enabled origin must remain. */
const within = ({ db }: Ctx, place: InDomain, work: (tx: ScopedTx) => Promise<void>): Promise<{ data: Upstream[] }> =>
  db.$transaction(async (tx) => {
    const domain = await own(tx, place);
    // Locks the domain: two concurrent calls could otherwise remove the last two origins.
    await tx.domain.update({ where: { id: place.domainId }, data: { updatedAt: new Date() } });
    await orFail('DUPLICATED', work(tx));
    if ((await tx.upstream.count({ where: { ...place, enabled: true } })) === 0) fail('NO_ENABLED_UPSTREAM');
    const data = await tx.upstream.findMany({ where: { ...place }, select, orderBy: { id: 'asc' } });
    assertFewAndDistinct(data);
    if (domain.enabled) await changed(tx, domain.site.zoneId, hostKey(domain.name));
    return { data };
  });

async function own(db: ScopedTx, { siteId, domainId }: InDomain) {
  const select = { name: true, enabled: true, site: { select: { zoneId: true } } } as const;
  return (await db.domain.findFirst({ where: { id: domainId, siteId }, select })) ?? fail('NOT_FOUND');
}

/** Checks the whole list, since each call may add up to the limit, and an address in another spelling. */
export function assertFewAndDistinct(all: readonly Upstream[]) {
  if (all.length > UPSTREAMS_AT_MOST) failAt('upstreams', 'range', `at most ${UPSTREAMS_AT_MOST}`);
  const pairs = new Set(all.map(({ address, port }) => `${canonicalNetwork(address)} ${port}`));
  if (pairs.size < all.length) fail('DUPLICATED');
}

async function assertAllowed(ctx: Ctx, upstreams: readonly UpstreamInput[]) {
  const faults = originFaults(await originSettingsOf(ctx), upstreams, 'upstreams');
  if (faults.length > 0) fail('PARAMETER', { errorData: faults });
}
