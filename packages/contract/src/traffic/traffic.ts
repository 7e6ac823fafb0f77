import * as z from 'zod';
import { Id, Memo, Text, Time } from '../common/common.ts';

export const BYTES_PER_GB = 1_000_000_000;
/** Sizes and sums are exact in JavaScript's numbers up to 9 PB. */
const Bytes = z
  .int()
  .min(1)
  .max(9_000_000 * BYTES_PER_GB);
const ends = 'The hour that holds it is the last one; null: no end';

export const TrafficPackageInput = z.object({
  userID: Id.describe('The customer'),
  productID: Id.nullable().default(null).describe('Null: for all products of the customer'),
  type: z.enum(['basic', 'extra']).describe('basic: the size in each month, used first. extra: the size once'),
  bytes: Bytes,
  startsAt: Time.describe('The hour that holds it is the first one; not before the current month'),
  endsAt: Time.nullable().default(null).describe(ends),
  memo: Memo.default(''),
});
/**
 * Omitted fields stay unchanged. Once a package began in an earlier month, only its end and memo can change: bills of
 * past months stay as they are.
 */
export const TrafficPackageUpdate = z.object({
  id: Id,
  productID: Id.nullable().optional(),
  bytes: Bytes.optional(),
  startsAt: Time.optional(),
  endsAt: Time.nullable().optional(),
  memo: Memo.optional(),
});

const TrafficPackageState = z.enum(['waiting', 'normal', 'warning', 'usedUp', 'ended']);
export const TrafficPackage = z.object({
  id: Id,
  userID: Id,
  userName: z.string().nullable().describe('Null: the customer was removed'),
  productID: Id.nullable(),
  productName: z.string().nullable(),
  type: z.enum(['basic', 'extra']),
  bytes: z.int(),
  usedBytes: z.int().describe('basic: in the current month'),
  startsAt: Time,
  endsAt: Time.nullable(),
  state: TrafficPackageState.describe('warning: from 80 %'),
  memo: z.string(),
  createdAt: Time,
  updatedAt: Time,
});

/** Both default to the current month. Months are those of UTC+8. */
export const MonthQuery = z.object({
  year: z.int().min(2000).max(9999).optional(),
  month: z.int().min(1).max(12).optional(),
});

/** Traffic of a customer with a product in a month. */
export const MonthlyUsage = z.object({
  userID: Id.nullable().describe("Null: the operator's own sites"),
  userName: z.string().nullable(),
  productID: Id,
  productName: Text.nullable(),
  year: z.int(),
  month: z.int(),
  bytes: z.int(),
  packageBytes: z.int().describe('Covered by packages'),
  overBytes: z.int().describe('Beyond packages: these have a price'),
  priceCents: z.int().describe('NTD cents for each GB of 10^9 bytes, at the end of the month'),
  amountCents: z.int().describe('overBytes × priceCents, rounded to the nearest cent, half up'),
  state: z
    .enum(['normal', 'warning', 'limited'])
    .nullable()
    .describe('Of the packages, in the current month; null in others'),
});

const NotFinalReason = z.enum(['notOver', 'beforeLedger', 'missingLogs']);
const finality = {
  gotReport: z.boolean().describe('The month is final: later calls have the same figures, except for late lines'),
  notFinalReason: NotFinalReason.nullable().describe(
    'notOver: until ten minutes after the month. missingLogs: of a node, for at most 7 days. beforeLedger: the month began before the release that has bills, and is never final',
  ),
};
export const MonthlyUsages = z.object({ list: z.array(MonthlyUsage), total: z.int(), ...finality });

export const TrafficReport = z.object({
  year: z.int(),
  month: z.int(),
  currency: z.literal('NTD'),
  ...finality,
  list: z.array(MonthlyUsage),
  bytes: z.int(),
  packageBytes: z.int(),
  overBytes: z.int(),
  amountCents: z.int().describe('Sum of the rounded amounts'),
});

export type TrafficPackageInput = z.output<typeof TrafficPackageInput>;
export type TrafficPackageUpdate = z.output<typeof TrafficPackageUpdate>;
export type TrafficPackage = z.output<typeof TrafficPackage>;
export type MonthQuery = z.output<typeof MonthQuery>;
export type MonthlyUsage = z.output<typeof MonthlyUsage>;
export type MonthlyUsages = z.output<typeof MonthlyUsages>;
export type NotFinalReason = z.output<typeof NotFinalReason>;
export type TrafficReport = z.output<typeof TrafficReport>;
