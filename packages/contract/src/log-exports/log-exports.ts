import * as z from 'zod';
import { Id, paging, Time } from '../common/common.ts';
import { LogDaySearch, LogSearch, withinOneDay } from '../logs/logs.ts';
import { SessionSearch } from '../logs/sessions.ts';
import { WafSearch } from '../logs/waf.ts';

export const LogExportType = z.enum(['access', 'waf', 'sessions']);
export type LogExportType = z.output<typeof LogExportType>;
export const LogExportFormat = z.enum(['csv', 'ndjson']);
export type LogExportFormat = z.output<typeof LogExportFormat>;
const LogExportStatus = z.enum(['waiting', 'processing', 'success', 'fail']);

/** Exports of an account that may wait or run at the same time. */
export const EXPORTS_AT_ONCE = 3;
/** The same of all accounts of an operator, so that many sub-accounts do not fill the database. */
export const OPERATOR_EXPORTS_AT_ONCE = 20;
export const EXPORT_DAYS_KEPT = 7;
export const EXPORT_ROWS = 10_000_000;

const format = LogExportFormat.default('csv');
export const LogExportInput = z.discriminatedUnion('type', [
  z.object({ type: z.literal('access').default('access'), format, query: LogDaySearch }),
  z.object({ type: z.literal('waf'), format, query: WafSearch.superRefine(withinOneDay) }),
  z.object({ type: z.literal('sessions'), format, query: SessionSearch.superRefine(withinOneDay) }),
]);
export type LogExportInput = z.output<typeof LogExportInput>;

export const LogExportQuery = paging(['createdAt', 'status', 'rows']).extend({
  orderBy: z.enum(['asc', 'desc']).default('desc'),
  type: LogExportType.optional(),
});
export type LogExportQuery = z.output<typeof LogExportQuery>;

/** A search of any type. */
export const ExportedSearch = LogSearch.extend(WafSearch.shape).extend(SessionSearch.shape);

export const LogExport = z.object({
  id: Id,
  type: LogExportType,
  format: LogExportFormat,
  query: ExportedSearch,
  status: LogExportStatus,
  progress: z.number().describe('0 to 1'),
  rows: z.int().describe('Requests, findings of the firewall or sessions, by the type'),
  bytes: z.int().describe('Size of the compressed file'),
  isCut: z.boolean().describe('The file reached its limit; more rows match'),
  createdAt: Time,
  endedAt: Time.nullable(),
  expiresAt: Time.describe('When the file is deleted'),
});
export type LogExport = z.output<typeof LogExport>;
