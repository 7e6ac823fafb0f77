// The operator's accounts at DNS providers. Credentials are tested before they are stored. After that only the
// reconciler (dns-state) talks to the provider.
import { randomUUIDv7 } from 'node:crypto';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type {
  DnsSetting,
  DnsSettingInput,
  DnsSettingTest,
  RecoveryInput,
  UnprocessedName,
} from '@edgeloom/contract/dns-setting/dns-setting.ts';
import { Weighting } from '@edgeloom/contract/dns-setting/lines.ts';
import { DnsCredentials, DnsProvider } from '@edgeloom/contract/dns-account/dns-account.ts';
import * as z from 'zod';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { pageOf } from '../../core/page.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { verifyAccount } from '../../dns-state/accounts.ts';
import { knownLines } from '../../dns-state/offered-lines.ts';
import { WantedSets } from '../../dns-state/sets.ts';
import { faultAt, masked, openCredentials, sealCredentials } from '../../dns/credentials.ts';
import { describeError } from '../../dns/provider.ts';
import type { Prisma } from '../../generated/client.ts';
import { addCname, keepOneDefault } from './cnames.service.ts';

const LIMIT = 20;
const include = { state: true } satisfies Prisma.DnsSettingInclude;
type Row = Prisma.DnsSettingGetPayload<{ include: typeof include }>;

export async function list(ctx: Ctx, paging: Paging<'createdAt' | 'rootDomain' | 'dnsType'>) {
  const rows = await ctx.db.dnsSetting.findMany({ include, ...pageOf(paging) });
  return { data: await shownAll(ctx, ctx.db, rows), total: await ctx.db.dnsSetting.count() };
}

export async function create(ctx: Ctx, { cname, ...input }: DnsSettingInput): Promise<DnsSetting> {
  await tried(ctx, input, 'INVALID_DNS_SETTING');
  const { clientId } = ctx.actor;
  const { dnsType, rootDomain } = input;
  return ctx.db.$transaction(async (tx) => {
    const there = await tx.dnsSetting.findFirst({ where: { rootDomain } });
    if (!there && (await tx.dnsSetting.count()) >= LIMIT) failAt('rootDomain', 'range', `at most ${LIMIT} accounts`);
    const id = there?.id ?? randomUUIDv7();
    const data = {
      dnsType,
      credentialsSealed: sealCredentials(ctx.installation.secrets, 'dns_settings', id, credentialsOf(input)),
    };
    if (there) {
      await tx.dnsSetting.update({ where: { id }, data });
      // The provider's zones and capabilities may differ now, and pending changes have to be computed again.
      await tx.dnsSettingState.update({
        where: { settingId: id },
        data: { heldUntil: null, tries: 0, fault: null, faultAt: null, listDueAt: new Date() },
      });
    } else {
      await tx.dnsSetting.create({ data: { ...data, id, clientId, rootDomain } });
      await tx.dnsSettingState.create({ data: { settingId: id } });
    }
    if (cname !== undefined) await addCname(tx, clientId, { name: cname, isDefault: false });
    const row = await tx.dnsSetting.findUniqueOrThrow({ where: { id }, include });
    const [shown] = await shownAll(ctx, tx, [row]);
    return shown ?? fail('NOT_FOUND');
  });
}

/** Records at the provider stay, since visitors use them until the operator removes them. */
export const remove = ({ db, actor }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.dnsSetting.deleteMany({ where: { id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    await keepOneDefault(tx, actor.clientId);
    return { ids };
  });

export async function test(ctx: Ctx, input: DnsSettingTest) {
  const { records, offer } = await tried(ctx, input, 'DNS_FAILED');
  return {
    records: records.length,
    lines: knownLines.filter((line) => line in offer.lines),
    weighting: offer.weighting,
  };
}

export const compare = ({ db }: Ctx, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.dnsSettingState.updateMany({
      where: { settingId: { in: ids } },
      data: { listDueAt: new Date(), heldUntil: null },
    });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

const waiting = { dueAt: { not: null } } satisfies Prisma.DnsNameWhereInput;

export async function unprocessed({ db }: Ctx, paging: Paging<'wantedAt' | 'dueAt' | 'name'>) {
  const state = { select: { fault: true, heldUntil: true } };
  const [rows, total] = await Promise.all([
    db.dnsName.findMany({ where: waiting, include: { setting: { select: { state } } }, ...pageOf(paging) }),
    db.dnsName.count({ where: waiting }),
  ]);
  const data = rows.map((row): UnprocessedName => {
    const held = row.setting.state;
    const dueAt = row.dueAt ?? row.wantedAt;
    return {
      id: row.id,
      dnsSettingID: row.settingId,
      name: row.name,
      answers: WantedSets.parse(row.wanted).map(
        ({ line, type, values }) =>
          `${type} ${values.map(({ value }) => value).join(', ')}${line === 'default' ? '' : ` (${line})`}`,
      ),
      fault: row.fault ?? held?.fault ?? null,
      tries: row.tries,
      wantedAt: row.wantedAt,
      dueAt: held?.heldUntil && held.heldUntil > dueAt ? held.heldUntil : dueAt,
    };
  });
  return { data, total };
}

/** Retries at once, for the account and its CNAME domains, and ignores their backoff. */
export const recovery = ({ db }: Ctx, { ids, takeOver }: RecoveryInput) =>
  db.$transaction(async (tx) => {
    const where = { ...waiting, ...(ids.length > 0 && { id: { in: ids } }) };
    const settings = await tx.dnsName.findMany({ where, select: { settingId: true }, distinct: ['settingId'] });
    const data = { dueAt: new Date(), tries: 0, ...(takeOver && { ours: ['*'] }) };
    const { count } = await tx.dnsName.updateMany({ where, data });
    // Touches the row that wakes the reconciler, even if its values stay the same.
    for (const { settingId } of settings)
      await tx.dnsSettingState.update({
        where: { settingId },
        data: { heldUntil: null, tries: 0, listDueAt: new Date() },
      });
    return { names: count };
  });

export async function lines({ db }: Ctx) {
  const states = await db.dnsSettingState.findMany({ select: { offeredLines: true, weighting: true } });
  const offered = states.map(({ offeredLines }) => linesIn(offeredLines) ?? []).map((some) => new Set(some));
  const isOffered = (line: string) =>
    line === 'default' || (offered.length > 0 && offered.every((some) => some.has(line)));
  const known = states.flatMap(({ weighting }) => Weighting.safeParse(weighting).data ?? []);
  // The weakest weighting among the providers.
  const weighting = Weighting.options.toReversed().find((one) => known.includes(one)) ?? null;
  return { data: knownLines.map((line) => ({ line, isOffered: isOffered(line) })), weighting };
}

const Offered = z.record(z.string(), z.string()).nullable();
const linesIn = (stored: unknown) => {
  const offered = Offered.parse(stored ?? null);
  return offered && knownLines.filter((line) => line in offered);
};

const credentialsOf = ({ dnsType, credentials }: DnsSettingTest) =>
  DnsCredentials.parse({ provider: dnsType, credentials });

const tried = (ctx: Ctx, input: DnsSettingTest, reason: 'INVALID_DNS_SETTING' | 'DNS_FAILED') =>
  verifyAccount(ctx.installation.env, credentialsOf(input), input.rootDomain).catch((error: unknown) =>
    fail(reason, {
      errorData: [{ target: input.rootDomain, ...faultAt(input.dnsType, describeError(error), 'rootDomain') }],
      cause: error,
    }),
  );

async function shownAll({ installation: { secrets } }: Ctx, db: ScopedTx, rows: Row[]): Promise<DnsSetting[]> {
  const where = { settingId: { in: rows.map(({ id }) => id) } };
  const all = await db.dnsName.groupBy({ by: ['settingId'], where, _count: true });
  const late = await db.dnsName.groupBy({ by: ['settingId'], where: { ...where, ...waiting }, _count: true });
  const countIn = (counts: typeof all, id: string) => counts.find(({ settingId }) => settingId === id)?._count ?? 0;
  return rows.map(({ state, ...row }) => ({
    id: row.id,
    dnsType: DnsProvider.parse(row.dnsType),
    rootDomain: row.rootDomain,
    credentials: masked(openCredentials(secrets, 'dns_settings', { ...row, provider: row.dnsType })),
    names: countIn(all, row.id),
    unprocessed: countIn(late, row.id),
    fault: state?.fault ?? null,
    faultAt: state?.faultAt ?? null,
    heldUntil: state?.heldUntil ?? null,
    listedAt: state?.listedAt ?? null,
    drifted: state?.drifted ?? 0,
    driftedNames: state?.driftedNames ?? [],
    lines: linesIn(state?.offeredLines),
    weighting: Weighting.nullable().parse(state?.weighting ?? null),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }));
}
