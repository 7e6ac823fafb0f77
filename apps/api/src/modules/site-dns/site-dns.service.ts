// Accounts at DNS providers for DNS validation of certificates. Credentials are tested before they are stored, and
// never returned.
import { randomUUIDv7 } from 'node:crypto';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import { DnsProvider } from '@edgeloom/contract/dns-account/dns-account.ts';
import { type SiteDns, type SiteDnsInput, type SiteDnsUpdate } from '@edgeloom/contract/site-dns/site-dns.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { pageOf } from '../../core/page.ts';
import { faultAt, masked, openCredentials, sealCredentials } from '../../dns/credentials.ts';
import type { DnsAccount } from '../../dns/account.ts';
import { openDns, describeError } from '../../dns/provider.ts';
import { DnsRateLimitedError, DnsRefusedError } from '../../dns/refusal.ts';
import type { SiteDns as Row } from '../../generated/client.ts';
import * as sites from '../sites/sites.service.ts';

const ZONES_AT_ONCE = 5;
/** Per site: each certificate order reads them all. */
const LIMIT = 50;

export async function list(ctx: Ctx, siteId: string, paging: Paging<'createdAt' | 'provider'>) {
  await sites.own(ctx.db, siteId);
  const where = { siteId };
  const [rows, total] = await Promise.all([
    ctx.db.siteDns.findMany({ where, ...pageOf(paging) }),
    ctx.db.siteDns.count({ where }),
  ]);
  return { data: rows.map((row) => shown(ctx, row)), total };
}

export async function create(ctx: Ctx, siteId: string, input: SiteDnsInput): Promise<SiteDns> {
  await sites.own(ctx.db, siteId);
  await assertWorks(ctx, input);
  const id = randomUUIDv7();
  const { provider, domains } = input;
  const credentialsSealed = sealCredentials(ctx.installation.secrets, 'site_dns', id, input);
  return ctx.db.$transaction(async (tx) => {
    await sites.lock(tx, siteId);
    if ((await tx.siteDns.count({ where: { siteId } })) >= LIMIT)
      failAt('provider', 'range', `at most ${LIMIT} accounts`);
    return shown(ctx, await tx.siteDns.create({ data: { id, siteId, provider, domains, credentialsSealed } }));
  });
}

export async function update(ctx: Ctx, siteId: string, { id, ...input }: SiteDnsUpdate): Promise<SiteDns> {
  await own(ctx, siteId, id);
  await assertWorks(ctx, input);
  const { provider, domains } = input;
  const credentialsSealed = sealCredentials(ctx.installation.secrets, 'site_dns', id, input);
  return shown(
    ctx,
    await ctx.db.siteDns.update({ where: { id, siteId }, data: { provider, domains, credentialsSealed } }),
  );
}

export const remove = ({ db }: Ctx, siteId: string, ids: string[]) =>
  db.$transaction(async (tx) => {
    const { count } = await tx.siteDns.deleteMany({ where: { siteId, id: { in: ids } } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

/** The zones of an account, read from the provider now. */
export async function domains(ctx: Ctx, siteId: string, id: string) {
  const row = await own(ctx, siteId, id);
  const account = openDns(ctx.installation.env, openCredentials(ctx.installation.secrets, 'site_dns', row));
  return { data: await look(account, row.domains) };
}

/** Providers limit calls: checks a few zones at a time, and stops when the provider cannot be reached. */
async function look(account: DnsAccount, zones: string[]) {
  let away: string | null = null;
  const one = async (name: string) => {
    if (away !== null) return { name, records: null, error: away };
    try {
      return { name, records: (await account.list(name)).length, error: null };
    } catch (error) {
      if (!(error instanceof DnsRefusedError) || error instanceof DnsRateLimitedError) away = describeError(error);
      return { name, records: null, error: describeError(error) };
    }
  };
  const found = [];
  for (let at = 0; at < zones.length; at += ZONES_AT_ONCE)
    found.push(...(await Promise.all(zones.slice(at, at + ZONES_AT_ONCE).map(one))));
  return found;
}

const own = async ({ db }: Ctx, siteId: string, id: string): Promise<Row> =>
  (await db.siteDns.findUnique({ where: { id, siteId } })) ?? fail('NOT_FOUND');

async function assertWorks({ installation: { env } }: Ctx, input: SiteDnsInput) {
  const { provider, domains } = input;
  const errorData = (await look(openDns(env, input), domains)).flatMap(({ name, error }) => {
    if (error === null) return [];
    // All errors share one field, so each names its zone.
    const message = domains.length > 1 ? `${name}: ${error}` : error;
    return [{ target: name, ...faultAt(provider, error, 'domains'), message }];
  });
  if (errorData.length > 0) fail('INVALID_DNS_SETTING', { errorData });
}

const shown = ({ installation: { secrets } }: Ctx, row: Row): SiteDns => ({
  id: row.id,
  provider: DnsProvider.parse(row.provider),
  domains: row.domains,
  credentials: masked(openCredentials(secrets, 'site_dns', row)),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});
