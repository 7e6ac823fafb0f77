// Changes many domains of a site at once: all or none, in a fixed number of statements.
import type { AddressSwap, Domain, UpstreamInput } from '@edgeloom/contract/domains/domains.ts';
import { hostKey } from '@edgeloom/contract/edge/documents.ts';
import { changed } from '../../core/changes.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { originSettingsOf } from '../../core/origin-settings.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { Prisma } from '../../generated/client.ts';
import * as sites from '../sites/sites.service.ts';
import { originFaults } from './create-domains.service.ts';
import { countOrigins, readForExport, readOrigins, type UpstreamPaging } from './domains.queries.ts';
import { failOnce } from './domains.service.ts';

export const setForceSSL = (ctx: Ctx, siteId: string, { ids, forceSSL }: { ids: string[]; forceSSL: boolean }) =>
  ctx.db.$transaction(async (tx) => {
    await change(tx, siteId, ids, { forceSsl: forceSSL });
    return { ids };
  });

export const setTags = (ctx: Ctx, siteId: string, { ids, tags }: { ids: string[]; tags: string[] }) =>
  ctx.db.$transaction(async (tx) => {
    // Tags are not part of node configuration.
    const { count } = await tx.domain.updateMany({ where: { siteId, id: { in: ids } }, data: { tags } });
    if (count !== new Set(ids).size) fail('NOT_FOUND');
    return { ids };
  });

/** Replaces the origins of all these domains. */
export async function setUpstreams(
  ctx: Ctx,
  siteId: string,
  { ids, upstreams }: { ids: string[]; upstreams: UpstreamInput[] },
) {
  const faults = originFaults(await originSettingsOf(ctx), upstreams, 'upstreams');
  if (faults.length > 0) fail('PARAMETER', { errorData: faults });
  if (!upstreams.some(({ enabled }) => enabled)) fail('NO_ENABLED_UPSTREAM');
  return ctx.db.$transaction(async (tx) => {
    const domains = await change(tx, siteId, ids, {});
    await tx.upstream.deleteMany({ where: { siteId, domainId: { in: ids } } });
    await tx.upstream.createMany({
      data: domains.flatMap(({ id }) => upstreams.map((upstream) => ({ ...upstream, siteId, domainId: id }))),
    });
    return { ids };
  });
}

/** Replaces one origin address by another, in the whole site or in the given domains. */
export async function swapAddress(ctx: Ctx, siteId: string, { from, to, ids }: AddressSwap) {
  const [fault] = originFaults(await originSettingsOf(ctx), [{ address: to }], '');
  if (fault) fail('PARAMETER', { errorData: [{ ...fault, path: 'to' }] });
  return ctx.db.$transaction(async (tx) => {
    const { zoneId } = await sites.own(tx, siteId);
    const among = { siteId, ...(ids && { id: { in: ids } }) };
    if (ids && (await tx.domain.count({ where: among })) !== new Set(ids).size) fail('NOT_FOUND');
    const where = { siteId, address: from, domain: among };
    // Locks first, so that the rows read below are the rows that change.
    await tx.domain.updateMany({
      where: { ...among, upstreams: { some: { address: from } } },
      data: { updatedAt: new Date() },
    });
    const select = { domainId: true, port: true, domain: { select: { name: true, enabled: true } } } as const;
    const [found, present] = [
      await tx.upstream.findMany({ where, select, orderBy: { domainId: 'asc' } }),
      await tx.upstream.findMany({
        where: { siteId, address: to, domain: { ...among, upstreams: { some: { address: from } } } },
        select: { domainId: true, port: true },
      }),
    ];
    const pair = ({ domainId, port }: { domainId: string; port: number }) => `${domainId} ${port}`;
    const there = from === to ? new Set<string>() : new Set(present.map(pair));
    const faults = found
      .filter((upstream) => there.has(pair(upstream)))
      .map(({ domain }) => ({ reason: 'DUPLICATED' as const, target: domain.name }));
    const domains = new Map(found.map(({ domainId, domain }) => [domainId, domain]));
    failOnce(faults, domains.size);
    await orFail('DUPLICATED', tx.upstream.updateMany({ where, data: { address: to } }));
    const enabled = [...domains.values()].filter((domain) => domain.enabled);
    await changed(tx, zoneId, ...enabled.map(({ name }) => hostKey(name)));
    return { ids: [...domains.keys()] };
  });
}

export async function upstreams(
  ctx: Ctx,
  siteId: string,
  { keyword, ...paging }: UpstreamPaging & { keyword?: string | undefined },
) {
  await sites.own(ctx.db, siteId);
  const [data, total] = await Promise.all([
    readOrigins(ctx, siteId, paging, keyword),
    countOrigins(ctx, siteId, keyword),
  ]);
  return { data, total };
}

/** One line per domain, fields separated by tabs. */
export async function exportText(ctx: Ctx, siteId: string, ids: string[]): Promise<string> {
  const rows = await readForExport(ctx, siteId, ids);
  if (rows.length !== new Set(ids).size) fail('NOT_FOUND');
  return rows.map((row) => `${fieldsOf(row).map(harmless).join('\t')}\n`).join('');
}

const fieldsOf = ({ name, status, scheme, upstreams, tags }: Domain): string[] => [
  name,
  status === 1 ? 'on' : 'off',
  scheme,
  upstreams.map(originText).join(' '),
  tags.join(','),
];

const originText = ({ address, port, weight, backup, enabled }: Domain['upstreams'][number]) => {
  const place = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  return `${place}*${weight}${backup ? '!backup' : ''}${enabled ? '' : '!off'}`;
};

/** Keeps a text within one field of one line, and stops spreadsheets from reading it as a formula. */
export const harmless = (text: string) => {
  // oxlint-disable-next-line no-control-regex -- these would begin another line or field
  const flat = text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ');
  return /^[=+\-@]/.test(flat) ? `'${flat}` : flat;
};

async function change(tx: ScopedTx, siteId: string, ids: string[], data: Prisma.DomainUpdateManyMutationInput) {
  const { zoneId } = await sites.own(tx, siteId);
  const where = { siteId, id: { in: ids } };
  const { count } = await tx.domain.updateMany({ where, data: { ...data, updatedAt: new Date() } });
  if (count !== new Set(ids).size) fail('NOT_FOUND');
  const domains = await tx.domain.findMany({ where, select: { id: true, name: true, enabled: true } });
  await changed(tx, zoneId, ...domains.filter(({ enabled }) => enabled).map(({ name }) => hostKey(name)));
  return domains;
}
