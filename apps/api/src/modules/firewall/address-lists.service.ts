// Black and white lists of a site. Each is a document of its own, published by a trigger of its table.
import {
  MAX_LISTS,
  type AddressList,
  type AddressListInput,
  type AddressListQuery,
  type AddressListUpdate,
} from '@edgeloom/contract/firewall/firewall.ts';
import * as z from 'zod';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt } from '../../core/fail.ts';
import { containing, pageOf } from '../../core/page.ts';
import { sql } from '../../core/sql.ts';
import { assertSite, withSite } from './site-lock.ts';

export const Expires = z.array(z.object({ ip: z.string(), at: z.coerce.date() }));

interface Row {
  id: string;
  value: string[];
  expires: unknown;
  urls: string[];
  methods: string[];
  memo: string;
  monitor: boolean;
  enabled: boolean;
  createdAt: Date;
  updatedAt: Date;
}
const listOf = ({
  id,
  value,
  expires,
  urls,
  methods,
  memo,
  monitor,
  enabled,
  createdAt,
  updatedAt,
}: Row): AddressList => ({
  id,
  ips: value,
  expires: Expires.parse(expires),
  url: urls,
  methodValues: methods,
  memo,
  monitor,
  enabled,
  createdAt,
  updatedAt,
});

function dataOf({ ips, expires, url, methodValues, memo, monitor, enabled }: AddressListInput) {
  const known = new Set(ips);
  const stray = expires.findIndex(({ ip }) => !known.has(ip));
  if (stray >= 0) failAt(`expires.${stray}.ip`, 'format', 'wrong format');
  return {
    value: ips,
    expires: expires.map(({ ip, at }) => ({ ip, at: at.toISOString() })),
    urls: url,
    methods: methodValues,
    memo,
    monitor,
    enabled,
  };
}

export const addressLists = (isBlack: boolean) => ({
  async list({ db }: Ctx, siteId: string, { keyword, ...page }: AddressListQuery) {
    await assertSite(db, siteId);
    const where = {
      siteId,
      isBlack,
      ...(keyword && { OR: [{ memo: containing(keyword) }, { value: { has: keyword.trim().toLowerCase() } }] }),
    };
    const [rows, total] = await Promise.all([
      db.firewallList.findMany({ where, ...pageOf(page) }),
      db.firewallList.count({ where }),
    ]);
    return { data: rows.map(listOf), total };
  },

  create: (ctx: Ctx, siteId: string, input: AddressListInput) =>
    withSite(ctx, siteId, async (tx) => {
      if ((await tx.firewallList.count({ where: { siteId } })) >= MAX_LISTS)
        failAt('ips', 'range', `at most ${MAX_LISTS} lists`);
      return listOf(await tx.firewallList.create({ data: { siteId, isBlack, ...dataOf(input) } }));
    }),

  update: (ctx: Ctx, siteId: string, { id, ...input }: AddressListUpdate) =>
    withSite(ctx, siteId, async (tx) => {
      const { count } = await tx.firewallList.updateMany({ where: { id, siteId, isBlack }, data: dataOf(input) });
      if (count === 0) fail('NOT_FOUND');
      return listOf(await tx.firewallList.findFirstOrThrow({ where: { id, siteId } }));
    }),

  remove: (ctx: Ctx, siteId: string, ids: string[]) =>
    withSite(ctx, siteId, async (tx) => {
      const { count } = await tx.firewallList.deleteMany({ where: { siteId, isBlack, id: { in: ids } } });
      if (count !== new Set(ids).size) fail('NOT_FOUND');
      return { ids };
    }),
});

/** All lists of a site, without their entries. */
export async function readSummaries({ db }: Ctx, siteId: string) {
  const [rows, counts] = await Promise.all([
    db.firewallList.findMany({
      where: { siteId },
      omit: { siteId: true, value: true, expires: true },
      orderBy: [{ isBlack: 'asc' }, { id: 'asc' }],
    }),
    // A list has up to thousands of entries, which PostgreSQL counts without sending them.
    db.$read<{ id: string; count: number }>(
      ({
        site,
      }) => sql`SELECT l.id, cardinality(l.value) AS count FROM firewall_lists l JOIN sites s ON s.id = l.site_id
        WHERE ${site} AND l.site_id = ${siteId}::uuid`,
    ),
  ]);
  const countOf = new Map(counts.map(({ id, count }) => [id, count]));
  return rows.map((row) => {
    const { urls, methods, ...list } = row;
    return { ...list, url: urls, methodValues: methods, count: countOf.get(row.id) ?? 0 };
  });
}
