import * as z from 'zod';
import { Id, Time } from '../common/common.ts';

const Part = z.string().trim().max(256);

/** Every filter narrows; a text is looked for anywhere in its column, in any case. */
export const AuditQuery = z.object({
  accountName: Part.optional().describe('Name or e-mail of the account that a call was made as'),
  proxyName: Part.optional().describe('Who acted as the account'),
  startTime: Time.optional(),
  endTime: Time.optional(),
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']).optional(),
  reqID: Part.optional().describe('The whole id'),
  url: Part.optional(),
  page: z.int().min(1).max(1000).default(1),
  pageSize: z.int().min(1).max(500).default(25),
});
export type AuditQuery = z.output<typeof AuditQuery>;

export const AuditRow = z.object({
  id: Id.describe('The same as reqID'),
  reqID: Id,
  time: Time,
  accountID: Id.nullable(),
  accountName: z.string(),
  email: z.string().describe('Of a refused sign-in: the one that was given'),
  proxyName: z.string().describe('Empty where the account acted itself'),
  method: z.string(),
  url: z.string().describe('Without its query'),
  status: z.int().describe('0: the server stopped before it answered'),
  address: z.string(),
  changeCount: z.int().describe('Rows that the call added, changed or removed'),
});
export type AuditRow = z.output<typeof AuditRow>;

const Content = z.record(z.string(), z.unknown());
export const AuditChange = z.object({
  entity: z.string().describe('What kind of thing: domains, cacheRules'),
  action: z.enum(['insert', 'update', 'delete']),
  count: z.int(),
  rows: z
    .array(z.object({ key: Content, before: Content.optional(), after: Content.optional() }))
    .describe('The first hundred. Of an update only what changed; secrets are masked'),
});
export type AuditChange = z.output<typeof AuditChange>;

export const AuditDetail = AuditRow.extend({ changes: z.array(AuditChange) });
export type AuditDetail = z.output<typeof AuditDetail>;

/** A search counts no further; whoever has more narrows it. */
export const AUDIT_COUNTED = 10_000;
