// Certificates of a site. Nodes serve a certificate's pairs; a signing request or an open order replaces them only on
// success.
import { randomUUIDv7 } from 'node:crypto';
import type { MetaQuery, Paging } from '@edgeloom/contract/common/common.ts';
import {
  CertificateStep,
  CertificateType,
  covers,
  KeyType,
  type Certificate,
  type CertificateEvent,
  type CertificateInfo,
  type CertificateInput,
  type CertificateUpdate,
  type Covering,
} from '@edgeloom/contract/certificates/certificates.ts';
import { CertStatus } from '@edgeloom/contract/domains/domains.ts';
import { certKey, hostKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from '../../core/changes.ts';
import { orFail, orInUse } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { containing, namedBy, pageOf } from '../../core/page.ts';
import type { LicensedTx, ScopedTx } from '../../core/scope.ts';
import { contexts } from '../../core/secrets.ts';
import type { CertificateEvent as EventRow, Prisma } from '../../generated/client.ts';
import { certificatesEnding } from '../attention/conditions.ts';
import * as sites from '../sites/sites.service.ts';
import { assertOrdering, assertRoom, openJobs, orderable, orderPairs } from './orders.ts';
import { readUpload, type Pair } from './pair.ts';
import { openPkcs12 } from './pkcs12.ts';
import { newRequest } from './request.ts';

export interface InCertificate {
  siteId: string;
  certId: string;
}

export const include = {
  pairs: { select: { keyType: true, issuer: true }, orderBy: { keyType: 'asc' } },
  orders: { select: { error: true }, where: { error: { not: null } }, orderBy: { createdAt: 'desc' }, take: 1 },
  _count: { select: { domains: true } },
} satisfies Prisma.CertificateInclude;
type Row = Prisma.CertificateGetPayload<{ include: typeof include }>;

/** Per site, since every node loads them all. Automatic certificates are limited by the product instead. */
const MOST_BROUGHT = 1000;
const COVERING_SHOWN = 100;

const column = { createdAt: 'createdAt', updatedAt: 'updatedAt', sslName: 'name', expiry: 'notAfter' } as const;

export async function list(
  { db, now }: Ctx,
  siteId: string,
  {
    sslName,
    status,
    ending,
    sortBy,
    ...paging
  }: Paging<keyof typeof column> & {
    sslName?: string | undefined;
    status?: string[] | undefined;
    ending?: boolean | undefined;
  },
) {
  await sites.own(db, siteId);
  const where = {
    siteId,
    ...(status && { status: { in: status } }),
    ...(ending !== undefined && { AND: certificatesEnding(ending, now()) }),
    ...(sslName && { OR: [{ name: containing(sslName) }, { names: { has: sslName.toLowerCase() } }] }),
  };
  const [rows, total] = await Promise.all([
    db.certificate.findMany({ where, include, ...pageOf({ ...paging, sortBy: column[sortBy] }) }),
    db.certificate.count({ where }),
  ]);
  return { data: rows.map(certificateOf), total };
}

export async function meta({ db }: Ctx, siteId: string, { page, pageSize, ...query }: MetaQuery) {
  await sites.own(db, siteId);
  const where = { siteId, ...namedBy(query) };
  const select = { id: true, name: true, names: true } as const;
  const [data, total] = await Promise.all([
    db.certificate.findMany({ where, select, ...pageOf({ page, pageSize, sortBy: 'name', orderBy: 'asc' }) }),
    db.certificate.count({ where }),
  ]);
  return { data, total };
}

export async function get({ db }: Ctx, { siteId, certId }: InCertificate): Promise<CertificateInfo> {
  const row =
    (await db.certificate.findUnique({
      where: { id: certId, siteId },
      include: {
        ...include,
        // The private key is not selected, so it cannot be returned.
        pairs: {
          select: { keyType: true, issuer: true, chainPem: true, fingerprint: true, notBefore: true, notAfter: true },
          orderBy: { keyType: 'asc' },
        },
        domains: { select: { id: true, name: true }, orderBy: { name: 'asc' }, take: 1000 },
        events: { orderBy: [{ at: 'desc' }, { id: 'desc' }], take: 100 },
      },
    })) ?? fail('NOT_FOUND');
  return {
    ...certificateOf(row),
    csrPem: row.csrPem,
    domains: row.domains,
    pairs: row.pairs.map((pair) => ({ ...pair, keyType: KeyType.parse(pair.keyType) })),
    timeline: row.events.map(eventOf),
  };
}

const eventOf = ({ id, at, step, keyType, ca, detail }: EventRow): CertificateEvent => ({
  id,
  at,
  step: CertificateStep.parse(step),
  keyType: keyType === null ? null : KeyType.parse(keyType),
  ca,
  detail,
});

export async function events({ db }: Ctx, { siteId, certId }: InCertificate, paging: Paging<'at'>) {
  if ((await db.certificate.count({ where: { id: certId, siteId } })) === 0) fail('NOT_FOUND');
  const where = { certificateId: certId };
  const [rows, total] = await Promise.all([
    db.certificateEvent.findMany({ where, ...pageOf(paging) }),
    db.certificateEvent.count({ where }),
  ]);
  return { data: rows.map(eventOf), total };
}

/** Certificates that cover some of the names; those that cover most come first. */
export async function covering({ db }: Ctx, siteId: string, { names }: Covering) {
  await sites.own(db, siteId);
  const exact = new Set(names);
  const byParent = Map.groupBy(
    names.filter((name) => !name.startsWith('*.')),
    (name) => `*${name.slice(name.indexOf('.'))}`,
  );
  const coveredBy = (name: string) => [...(exact.has(name) ? [name] : []), ...(byParent.get(name) ?? [])];
  const rows = await db.certificate.findMany({
    where: { siteId },
    select: { id: true, name: true, names: true },
    orderBy: { name: 'asc' },
  });
  const found = rows
    .map((row) => ({ ...row, covered: new Set(row.names.flatMap(coveredBy)).size }))
    .filter(({ covered }) => covered > 0)
    .toSorted((a, b) => b.covered - a.covered);
  const others = found.slice(COVERING_SHOWN).map((row) => row.id);
  return { data: found.slice(0, COVERING_SHOWN), total: found.length, others };
}

export async function create(ctx: Ctx, siteId: string, input: CertificateInput): Promise<Certificate> {
  const site = await sites.own(ctx.db, siteId);
  const { zoneId } = site;
  const id = randomUUIDv7();
  const data = { id, siteId, name: input.sslName };
  if (input.source === 'automatic') {
    assertOrdering(ctx, site);
    return ctx.db.$transaction(async (tx) => {
      await orderable(tx, siteId, input.names, 'names');
      await assertRoom(tx, siteId, [input.sslName]);
      await orFail('DUPLICATED', tx.certificate.create({ data: { ...data, type: 'automatic', ...wanted(input) } }));
      await orderPairs(tx, ctx.now(), [{ ...input, id, siteId }], null);
      return read(tx, id);
    });
  }
  if (input.source === 'csr') {
    const request = await newRequest(ctx, id, input);
    return ctx.db.$transaction(async (tx) => {
      await assertOneMore(tx, siteId);
      await assertRequest(tx, siteId);
      await orFail('DUPLICATED', tx.certificate.create({ data: { ...data, ...request } }));
      await note(tx, ctx, id, 'requested', input.names.join(' '));
      return read(tx, id);
    });
  }
  const pair = await pairOf(ctx, input);
  return ctx.db.$transaction(async (tx) => {
    await assertOneMore(tx, siteId);
    await orFail('DUPLICATED', tx.certificate.create({ data: { ...data, names: pair.names } }));
    await serve(tx, ctx, { id, zoneId }, pair, false);
    return read(tx, id);
  });
}

/** Locks the site, so that concurrent calls cannot both add the last allowed certificate. */
async function assertOneMore(tx: ScopedTx, siteId: string) {
  await sites.lock(tx, siteId);
  const brought = await tx.certificate.count({ where: { siteId, type: { not: 'automatic' } } });
  if (brought >= MOST_BROUGHT)
    failAt('source', 'maxItems', `at most ${MOST_BROUGHT} certificates that are brought`, { maximum: MOST_BROUGHT });
}

/** A signing request waits until its certificate is uploaded to any site of the account. */
async function assertRequest(tx: LicensedTx, siteId: string) {
  const { ownerId, clientId } = await tx.site.findUniqueOrThrow({
    where: { id: siteId },
    select: { ownerId: true, clientId: true },
  });
  await tx.$license.assertBelow('certificateRequests', ownerId ?? clientId);
}

export async function update(ctx: Ctx, { siteId, certId: id }: InCertificate, input: CertificateUpdate) {
  const site = await sites.own(ctx.db, siteId);
  const { zoneId } = site;
  const where = { id, siteId };
  const row = (await ctx.db.certificate.findUnique({ where })) ?? fail('NOT_FOUND');
  if (input.source === 'name') {
    await orFail('DUPLICATED', ctx.db.certificate.update({ where, data: { name: input.sslName } }));
    return read(ctx.db, id);
  }
  if ((input.source === 'automatic') !== (row.type === 'automatic'))
    failAt('source', 'type', `this certificate is ${row.type}`);
  if (input.source === 'automatic') {
    assertOrdering(ctx, site);
    return ctx.db.$transaction(async (tx) => {
      await orderable(tx, siteId, input.names, 'names');
      await tx.certificate.update({ where, data: wanted(input) });
      await orderPairs(tx, ctx.now(), [{ ...input, id, siteId }], null);
      return read(tx, id);
    });
  }
  if (input.source === 'csr') {
    const { names, ...request } = await newRequest(ctx, id, input);
    return ctx.db.$transaction(async (tx) => {
      if (row.csrPem === null) await assertRequest(tx, siteId);
      // Certificates in use keep their name.
      const served = await tx.certificatePair.count({ where: { certificateId: id } });
      await tx.certificate.update({ where, data: { ...request, ...(served === 0 && { names }) } });
      await note(tx, ctx, id, 'requested', input.names.join(' '));
      return read(tx, id);
    });
  }
  const pair = await (input.source === 'signed' ? signedPair(ctx, row, input.chainPem) : pairOf(ctx, input));
  return ctx.db.$transaction(async (tx) => {
    await serve(tx, ctx, { id, zoneId }, pair, input.alongside);
    if (input.source === 'signed') await tx.certificate.update({ where, data: { csrPem: null, csrKeySealed: null } });
    return read(tx, id);
  });
}

const wanted = ({ names, keyTypes }: { names: string[]; keyTypes: KeyType[] }) => ({
  names,
  keyTypes: [...new Set(keyTypes)],
});

async function pairOf(
  { now }: Ctx,
  input:
    | Extract<CertificateInput, { source: 'pem' | 'pkcs12' }>
    | Extract<CertificateUpdate, { source: 'pem' | 'pkcs12' }>,
): Promise<Pair> {
  return input.source === 'pem'
    ? readUpload(input, now(), { chain: 'chainPem', key: 'keyPem' })
    : readUpload(await openPkcs12(input), now(), { chain: 'pkcs12', key: 'pkcs12' });
}

function signedPair(
  ctx: Ctx,
  { id, csrKeySealed }: { id: string; csrKeySealed: string | null },
  chainPem: string,
): Pair {
  if (csrKeySealed === null) failAt('chainPem', 'request', 'no request waits for a certificate');
  const keyPem = ctx.installation.secrets.open(csrKeySealed ?? '', contexts.certificateKey(id));
  return readUpload({ chainPem, keyPem }, ctx.now(), { chain: 'chainPem', key: 'chainPem' });
}

/** Serves this pair from now on: alone, or beside the pair of the other key type. */
async function serve(
  tx: ScopedTx,
  ctx: Ctx,
  { id, zoneId }: { id: string; zoneId: string },
  pair: Pair,
  alongside: boolean,
) {
  // Locks by writing first: concurrent pairs take turns.
  const before = await tx.certificate.update({ where: { id }, data: { status: 'success', updatedAt: ctx.now() } });
  const others = alongside
    ? await tx.certificatePair.findMany({ where: { certificateId: id, keyType: { not: pair.keyType } } })
    : [];
  const names = others.length === 0 ? pair.names : before.names.filter((name) => covers(pair.names, name));
  const domains = await tx.domain.findMany({ where: { certificateId: id }, select: { name: true } });
  const left = domains.map(({ name }) => name).filter((name) => !covers(names, name));
  if (left.length > 0 || names.length === 0)
    fail('INVALID_CERTIFICATE_NAME', { errorData: [{ targets: left.slice(0, 100) }] });

  const { keyType, keyPem, chainPem, fingerprint, issuer, notBefore, notAfter } = pair;
  const keySealed = ctx.installation.secrets.seal(keyPem, contexts.certificateKey(id));
  const content = { chainPem, keySealed, fingerprint, issuer, notBefore, notAfter };
  await tx.certificatePair.deleteMany({ where: { certificateId: id, ...(alongside && { keyType }) } });
  await tx.certificatePair.create({ data: { certificateId: id, keyType, ...content } });
  const ends = [notAfter, ...others.map((other) => other.notAfter)].toSorted((a, b) => a.getTime() - b.getTime());
  await tx.certificate.update({ where: { id }, data: { names, notAfter: ends[0] ?? notAfter } });
  await note(tx, ctx, id, 'uploaded', `${issuer} ${names.join(' ')}`, keyType);
  await changed(tx, zoneId, certKey(id));
}

const note = (
  tx: ScopedTx,
  { now }: Ctx,
  certificateId: string,
  step: CertificateStep,
  detail: string,
  keyType?: KeyType,
) =>
  tx.certificateEvent.create({
    data: { certificateId, at: now(), step, detail: detail.slice(0, 2000), keyType: keyType ?? null },
  });

export const assign = (
  { db }: Ctx,
  { siteId, certId: id }: InCertificate,
  { domainIDs, assigned }: { domainIDs: string[]; assigned: boolean },
): Promise<Certificate> =>
  db.$transaction(async (tx) => {
    const { zoneId } = await sites.own(tx, siteId);
    const { names, _count } =
      (await tx.certificate.findUnique({ where: { id, siteId }, include: { _count: { select: { pairs: true } } } })) ??
      fail('NOT_FOUND');
    const where = { siteId, id: { in: domainIDs } };
    const domains = await tx.domain.findMany({ where, select: { name: true } });
    if (domains.length !== new Set(domainIDs).size) fail('NOT_FOUND');
    const uncovered = domains.filter(({ name }) => _count.pairs === 0 || !covers(names, name)).map(({ name }) => name);
    if (assigned && uncovered.length > 0) fail('INVALID_CERTIFICATE_NAME', { errorData: [{ targets: uncovered }] });
    if (assigned) await tx.domain.updateMany({ where, data: { certificateId: id, certStatus: 'success' } });
    else
      await tx.domain.updateMany({
        where: { ...where, certificateId: id },
        data: { certificateId: null, certStatus: 'none' },
      });
    await changed(tx, zoneId, certKey(id), ...domains.map(({ name }) => hostKey(name)));
    return read(tx, id);
  });

export const remove = ({ db, now }: Ctx, siteId: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { zoneId } = await sites.own(tx, siteId);
    const where = { siteId, id: { in: ids } };
    // Writes first to take locks in the same order as the code that ends an order.
    await tx.certificate.updateMany({ where, data: { updatedAt: now() } });
    const rows = await tx.certificate.findMany({ where, include });
    if (rows.length !== new Set(ids).size) fail('NOT_FOUND');
    const used = rows.filter(({ _count }) => _count.domains > 0).map(({ name }) => name);
    if (used.length > 0) fail('STILL_IN_USE', { errorData: [{ rule: 'inUse', targets: used }] });
    const endJobs = await openJobs(tx, ids);
    // A domain may be assigned at this moment; the foreign key then refuses the removal.
    await orInUse('STILL_IN_USE', tx.certificate.deleteMany({ where }));
    await endJobs(now());
    const asked = rows.filter(({ type }) => type === 'automatic').flatMap(({ names }) => names);
    await tx.domain.updateMany({
      where: { siteId, name: { in: asked }, certificateId: null },
      data: { certStatus: 'none' },
    });
    await changed(tx, zoneId, ...ids.map(certKey));
    return { ids };
  });

const read = async (tx: ScopedTx, id: string): Promise<Certificate> =>
  certificateOf((await tx.certificate.findUnique({ where: { id }, include })) ?? fail('NOT_FOUND'));

export const certificateOf = (row: Row): Certificate => ({
  id: row.id,
  siteID: row.siteId,
  sslName: row.name,
  type: CertificateType.parse(row.type),
  status: CertStatus.parse(row.status),
  names: row.names,
  keyTypes: (row.type === 'automatic' ? row.keyTypes : row.pairs.map(({ keyType }) => keyType)).map((type) =>
    KeyType.parse(type),
  ),
  issuer: row.pairs[0]?.issuer ?? null,
  expiry: row.notAfter,
  inUse: row._count.domains,
  hasRequest: row.csrPem !== null,
  nextAt: row.nextAt,
  error: row.status === 'fail' ? (row.orders[0]?.error ?? null) : null,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});
