// Orders at certificate authorities: which names may be ordered, and how an order is opened.
// jobs/issue-certificates.job.ts processes the orders.
import { randomUUIDv7 } from 'node:crypto';
import type { KeyType } from '@edgeloom/contract/certificates/certificates.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failTogether } from '../../core/fail.ts';
import type { LicensedTx, ScopedTx } from '../../core/scope.ts';
import * as jobs from '../jobs/jobs.service.ts';
import { limitsOf } from '../sites/limits.ts';
import * as sites from '../sites/sites.service.ts';

/** Whether the name is inside a zone of a DNS account. */
export const isUnder = (name: string, zones: readonly string[]) =>
  zones.some((zone) => name === zone || name.endsWith(`.${zone}`));

/** Names that cannot be validated: neither a DNS account of the site has their zone, nor does the site serve them. */
async function unorderable(
  tx: Pick<ScopedTx, 'siteDns' | 'domain'>,
  siteId: string,
  names: readonly string[],
): Promise<string[]> {
  const accounts = await tx.siteDns.findMany({ where: { siteId }, select: { domains: true } });
  const zones = accounts.flatMap(({ domains }) => domains);
  const byNodes = names.filter((name) => !isUnder(name, zones));
  // In the whole installation only one site can have a name enabled.
  const served = await tx.domain.findMany({
    where: { siteId, enabledName: { in: [...byNodes] } },
    select: { name: true },
  });
  const known = new Set(served.map(({ name }) => name));
  return byNodes.filter((name) => name.startsWith('*.') || !known.has(name));
}

export async function orderable(tx: ScopedTx, siteId: string, names: readonly string[], path: string) {
  const targets = await unorderable(tx, siteId, names);
  if (targets.length > 0) fail('INVALID_CERTIFICATE_NAME', { errorData: [{ path, targets }] });
}

/**
 * Checks the limit before orders are written. Locks the site, so that concurrent calls cannot both add the last one.
 */
export async function assertRoom(tx: LicensedTx, siteId: string, names: readonly string[]) {
  if (names.length === 0) return;
  const limit = limitsOf(await sites.lock(tx, siteId)).autoCertificateLimit;
  const free = limit - (limit === 0 ? 0 : await tx.certificate.count({ where: { siteId, type: 'automatic' } }));
  if (limit > 0 && names.length > free)
    fail('AUTO_SSL_LIMIT', { extra: { limit }, errorData: [{ targets: names.slice(Math.max(0, free)) }] });
  await tx.$license.assertRoom('autoCertificates', names.length);
}

interface Wanted {
  id: string;
  siteId: string;
  names: string[];
  keyTypes: readonly KeyType[];
}

/**
 * Locks the jobs with open orders of these certificates until the transaction ends, in the same order as the code that
 * ends an order. Returns a function that ends the jobs left without an order.
 */
export async function openJobs(tx: ScopedTx, certificateIds: string[]): Promise<(now: Date) => Promise<void>> {
  const orders = await tx.certificateOrder.findMany({
    where: { certificateId: { in: certificateIds }, openFor: { not: null }, jobId: { not: null } },
    select: { jobId: true },
    distinct: ['jobId'],
  });
  const where = { id: { in: orders.flatMap(({ jobId }) => jobId ?? []) }, state: 'processing' };
  await tx.job.updateMany({ where, data: { state: 'processing' } });
  return async (now) => {
    await tx.job.updateMany({
      where: { ...where, orders: { none: { state: 'open' } } },
      data: { state: 'failed', endedAt: now },
    });
  };
}

/** Customers cannot order if the product says so. Renewals go on. */
export function assertOrdering({ actor }: Ctx, { product }: { product: { autoSsl: boolean } }): void {
  if (!product.autoSsl && actor.kind === 'user') fail('AUTO_SSL_OFF');
}

/** Opens an order for each pair. An order that is already open is due at once instead. */
export async function orderPairs(tx: ScopedTx, now: Date, wanted: readonly Wanted[], jobId: string | null) {
  const pairs = wanted.flatMap(({ id, keyTypes }) =>
    [...new Set(keyTypes)].map((keyType) => ({ certificateId: id, keyType, openFor: `${id} ${keyType}` })),
  );
  const ids = wanted.map(({ id }) => id);
  await tx.certificate.updateMany({
    where: { id: { in: ids } },
    data: { status: 'processing', nextAt: null, failures: 0 },
  });
  const endJobs = await openJobs(tx, ids);
  // A manual request skips the backoff. An order for other names starts again.
  await tx.certificateOrder.updateMany({
    where: { certificateId: { in: ids }, openFor: { not: null } },
    data: { openFor: null, state: 'failed', error: null, endedAt: now },
  });
  await tx.certificateOrder.createMany({ data: pairs.map((pair) => ({ ...pair, jobId, dueAt: now })) });
  await endJobs(now);
  await tx.certificateEvent.createMany({
    data: wanted.map(({ id, names }) => ({
      certificateId: id,
      at: now,
      step: 'ordered',
      detail: names.join(' ').slice(0, 2000),
    })),
  });
  for (const { siteId, names } of wanted)
    await tx.domain.updateMany({
      where: { siteId, name: { in: names }, certificateId: null },
      data: { certStatus: 'processing' },
    });
}

/** Orders a certificate for each domain and assigns it. */
export const autoSSL = (ctx: Ctx, siteId: string, ids: string[]) =>
  ctx.db.$transaction(async (tx) => {
    // Locks the site: a concurrent call for the same names finds these orders.
    assertOrdering(ctx, await sites.lock(tx, siteId));
    const domains = await tx.domain.findMany({ where: { siteId, id: { in: ids } }, select: { name: true } });
    if (domains.length !== new Set(ids).size) fail('NOT_FOUND');
    const names = domains.map(({ name }) => name);
    const tooLong = names.filter((name) => name.length > 64);
    const refused = [...tooLong, ...(await unorderable(tx, siteId, names))];
    if (ids.length === 1 && refused.length > 0) fail('INVALID_CERTIFICATE_NAME', { errorData: [{ targets: refused }] });
    failTogether(refused.map((target) => ({ reason: 'INVALID_CERTIFICATE_NAME', target })));

    const known = await tx.certificate.findMany({
      where: { siteId },
      select: { id: true, name: true, type: true, names: true, keyTypes: true },
    });
    const taken = new Set(known.map(({ name }) => name));
    const own = new Map(
      known.flatMap((one) =>
        one.type === 'automatic' && one.names.length === 1 ? [[one.names[0] ?? '', one.id] as const] : [],
      ),
    );
    const fresh = names.filter((name) => !own.has(name));
    await assertRoom(tx, siteId, fresh);
    const keyTypes: KeyType[] = ['ecdsa'];
    const made = fresh.map((name) => ({
      id: randomUUIDv7(),
      siteId,
      name: taken.has(name) ? `${name} (${randomUUIDv7().slice(-6)})` : name,
      type: 'automatic',
      names: [name],
      keyTypes,
    }));
    await tx.certificate.createMany({ data: made });
    for (const {
      id,
      names: [name = ''],
    } of made)
      own.set(name, id);
    const jobID = await jobs.start(tx, {
      siteId,
      kind: 'issueCertificates',
      title: names.length === 1 ? (names[0] ?? '') : `${names[0]} +${names.length - 1}`,
      createdBy: ctx.actor.name,
    });
    const wanted = names.flatMap((name) => {
      const id = own.get(name);
      return id === undefined ? [] : [{ id, siteId, names: [name], keyTypes }];
    });
    await orderPairs(tx, ctx.now(), wanted, jobID);
    return { jobID };
  });
