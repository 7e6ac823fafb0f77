import * as z from 'zod';
import { Id, Time } from '../common/common.ts';

const Part = z.string().trim().max(256);

/** Every filter narrows; a text is looked for anywhere in its column, in any case. */
export const AuditQuery = z.object({
  keyword: Part.optional().describe('Name or e-mail of an account, or the name of an object that a call was about'),
  accountName: Part.optional().describe('Name or e-mail of the account that a call was made as'),
  proxyName: Part.optional().describe('Who acted as the account'),
  startTime: Time.optional(),
  endTime: Time.optional(),
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']).optional(),
  outcome: z.enum(['done', 'failed']).optional(),
  reqID: Part.optional().describe('The whole id'),
  url: Part.optional(),
  detail: z
    .enum(['actions', 'calls'])
    .default('actions')
    .describe('calls: also token refreshes and steps of an action, such as the password before the second factor'),
  page: z.int().min(1).max(1000).default(1),
  pageSize: z.int().min(1).max(500).default(25),
});
export type AuditQuery = z.output<typeof AuditQuery>;

export const AuditItem = z.object({
  id: z.string().describe('Empty: the call did not create it'),
  name: z.string().describe('At the time of the call. Empty: not recorded'),
  exists: z.boolean().describe('The reader still finds it'),
});
export type AuditItem = z.output<typeof AuditItem>;
const kind = z.string().describe('What kind of thing: sites, errorPages');
export const AuditTarget = z.object({
  kind,
  count: z.int().describe('0: unknown'),
  items: z.array(AuditItem).describe('The first three; none of a kind without names'),
});
export type AuditTarget = z.output<typeof AuditTarget>;

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
  code: z
    .int()
    .nullable()
    .describe('Error code of a failed call, of a batch the one that its entries share; null in rows of older releases'),
  address: z.string(),
  device: z.string().describe('The browser or program, in its own words'),
  changeCount: z.int().describe('Rows that the call added, changed or removed'),
  operation: z.string().describe('Feature and name of the call: errorPages.create. Empty: no such call any more'),
  kind: z.string().describe('Of the targets: the kind that the call is about'),
  targets: z.array(AuditTarget).describe('By kind; those of the address first'),
  within: AuditItem.extend({ kind }).nullable().describe('What contains the objects: a site, a zone, a domain'),
  values: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .describe('What else the sentence says: a version, a switch'),
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
