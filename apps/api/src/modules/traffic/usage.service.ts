// Traffic and its price by customer, product and month.
import { stringify } from 'csv-stringify/sync';
import type { MonthlyUsage, MonthlyUsages, MonthQuery, TrafficReport } from '@edgeloom/contract/traffic/traffic.ts';
import { NOBODY } from '../../core/actor.ts';
import type { Ctx } from '../../core/ctx.ts';
import { andAll, nothing, sql, type Sql } from '../../core/sql.ts';
import { billingMonth, monthOf, type BillingMonth } from '../../statistics/billing-month.ts';
import { readCustomerTraffic } from './customer-traffic.ts';
import { readNotFinalReason } from './final-month.ts';
import { allowanceOf, monthKey, priceOf } from './package-usage.ts';

interface Filter extends MonthQuery {
  userID?: string | undefined;
}

export async function months(
  ctx: Ctx,
  { page, pageSize, ...filter }: Filter & { page: number; pageSize: number },
): Promise<MonthlyUsages> {
  const month = chosenMonth(ctx, filter);
  const finality = await readFinality(ctx, month);
  const offset = (page - 1) * pageSize;
  const { list, total } = await readMonth(ctx, month, filter, sql` LIMIT ${pageSize} OFFSET ${offset}`);
  return { list, total: total === 0 && offset > 0 ? await countMonth(ctx, month, filter) : total, ...finality };
}

export async function report(ctx: Ctx, filter: Filter): Promise<TrafficReport> {
  const month = chosenMonth(ctx, filter);
  const finality = await readFinality(ctx, month);
  const { list } = await readMonth(ctx, month, filter);
  const sumOf = (name: 'bytes' | 'packageBytes' | 'overBytes' | 'amountCents') =>
    list.reduce((sum, row) => sum + row[name], 0);
  return {
    year: month.year,
    month: month.month,
    currency: 'NTD',
    ...finality,
    list,
    bytes: sumOf('bytes'),
    packageBytes: sumOf('packageBytes'),
    overBytes: sumOf('overBytes'),
    amountCents: sumOf('amountCents'),
  };
}

/** For accounting software: the field names of the API, `final` for gotReport, and no sums. */
export const writeCsv = ({ list, currency, gotReport }: TrafficReport): string =>
  stringify(
    list.map((row) => ({ ...row, currency, final: String(gotReport) })),
    {
      bom: true,
      // Names that begin like a formula would be one in a spreadsheet.
      escape_formulas: true,
      header: true,
      columns: [
        'year',
        'month',
        'userID',
        'userName',
        'productID',
        'productName',
        'bytes',
        'packageBytes',
        'overBytes',
        'priceCents',
        'amountCents',
        'currency',
        'final',
      ],
    },
  );

/**
 * Must be asked before the sums are read: logs that arrive in between belong to a month that is not final. For the
 * whole operator, because the caller may not see all of its nodes.
 */
async function readFinality({ actor, now, installation: { pool } }: Ctx, month: BillingMonth) {
  const notFinalReason = await readNotFinalReason(pool, actor.clientId, month, now().getTime());
  return { gotReport: notFinalReason === null, notFinalReason };
}

function chosenMonth({ now }: Ctx, { year, month }: MonthQuery): BillingMonth {
  const current = monthOf(now().getTime());
  return billingMonth(year ?? current.year, month ?? current.month);
}

const rowsSql = (usage: Sql, { from, to }: BillingMonth, { userID }: Filter): Sql =>
  sql`SELECT u.owner_id, u.product_id, sum(u.bytes) AS bytes FROM traffic_usages u
    WHERE ${usage} AND u.hour >= ${new Date(from)} AND u.hour < ${new Date(to)}${andAll([userID && sql`u.owner_id = ${userID}::uuid`])}
    GROUP BY 1, 2`;

/** Only for a page beyond the last one: the rows of other pages have the total, and each count reads the month. */
async function countMonth({ db }: Ctx, month: BillingMonth, filter: Filter): Promise<number> {
  const [row] = await db.$read<{ total: number }>(
    ({ usage }) => sql`SELECT count(*)::int AS total FROM (${rowsSql(usage, month, filter)}) m`,
  );
  return row?.total ?? 0;
}

interface MonthRow {
  ownerId: string;
  userName: string | null;
  productId: string;
  productName: string | null;
  priceCents: number | null;
  bytes: string;
  total: number;
}

/** The largest first. The price is the one at the end of the month. */
async function readMonth(
  ctx: Ctx,
  month: BillingMonth,
  filter: Filter,
  page = nothing,
): Promise<{ list: MonthlyUsage[]; total: number }> {
  const to = new Date(month.to);
  const rows = await ctx.db.$read<MonthRow>(
    ({ usage }) => sql`SELECT m.owner_id AS "ownerId", a.name AS "userName", m.product_id AS "productId",
      p.name AS "productName", p.traffic_price_cents AS "priceCents", m.bytes::text AS bytes, m.total
    FROM (SELECT r.*, count(*) OVER ()::int AS total FROM (${rowsSql(usage, month, filter)}) r ORDER BY 3 DESC, 1, 2${page}) m
    LEFT JOIN accounts a ON a.id = m.owner_id
    LEFT JOIN LATERAL (
      SELECT name, traffic_price_cents FROM product_prices p WHERE p.product_id = m.product_id
      ORDER BY p.since < ${to} DESC, CASE WHEN p.since < ${to} THEN -p.id ELSE p.id END LIMIT 1
    ) p ON TRUE
    ORDER BY m.bytes DESC, 1, 3`,
  );
  const owners = rows.map(({ ownerId }) => ownerId).filter((id) => id !== NOBODY);
  const trafficOf = await readCustomerTraffic(ctx.installation.pool, owners, month.from);
  const now = ctx.now().getTime();
  const isCurrent = monthOf(now).from === month.from;
  const list = rows.map(({ ownerId, userName, productId, productName, priceCents, bytes }) => {
    const { packages, replay } = trafficOf(ownerId);
    // The replay was read later than the sum, so both figures are the replay's.
    const used = replay.months.get(monthKey(month.from, productId)) ?? { bytes: BigInt(bytes), packageBytes: 0n };
    const overBytes = used.bytes - used.packageBytes;
    return {
      userID: ownerId === NOBODY ? null : ownerId,
      userName,
      productID: productId,
      productName,
      year: month.year,
      month: month.month,
      bytes: Number(used.bytes),
      packageBytes: Number(used.packageBytes),
      overBytes: Number(overBytes),
      priceCents: priceCents ?? 0,
      amountCents: Number(priceOf(overBytes, priceCents ?? 0)),
      state: isCurrent ? allowanceOf(packages, replay, productId, now).state : null,
    };
  });
  return { list, total: rows[0]?.total ?? 0 };
}
