import * as z from 'zod';
import { Id, Time } from '../common/common.ts';

/** Fields of a call's body by which it turns something on or off. */
export const SWITCH_FIELDS = ['enabled', 'enable', 'assigned', 'forceSSL'] as const;
/** Fields of a call's body that the log stores for its sentences. None of them is a secret in any call. */
export const SENTENCE_FIELDS = [
  ...SWITCH_FIELDS,
  'off',
  'status',
  'preview',
  'name',
  'cname',
  'port',
  'role',
  'product',
  'version',
] as const;

const Part = z.string().trim().max(256);
const detail = z
  .enum(['actions', 'calls'])
  .default('actions')
  .describe(
    'actions: the calls of one action are one row. calls: each call is a row, also token refreshes and steps such as the password before the second factor',
  );

/** Text filters match any part of their column and ignore case. An action is found by any of its calls. */
export const AuditQuery = z.object({
  keyword: Part.optional().describe('Name or e-mail of an account, or the name of an object that a call was about'),
  accountName: Part.optional().describe('Name or e-mail of the account that a call was made as'),
  proxyName: Part.optional().describe('Who acted as the account'),
  startTime: Time.optional(),
  endTime: Time.optional(),
  method: z.enum(['POST', 'PUT', 'PATCH', 'DELETE']).optional(),
  outcome: z.enum(['done', 'failed']).optional(),
  reqID: Part.optional().describe('The whole id. Finds the call itself, not its action'),
  url: Part.optional(),
  detail,
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
  items: z.array(AuditItem).describe('The first three, in a detail a hundred; none of a kind without names'),
});
export type AuditTarget = z.output<typeof AuditTarget>;

/** An action: one call, or several with the same Action-Id. */
export const AuditEntry = z.object({
  id: Id.describe('The same as reqID'),
  reqID: Id.describe('Of an action of several calls: its first call that was done, else its first'),
  time: Time.describe('Of an action of several calls: the newest call that matches'),
  accountID: Id.nullable(),
  accountName: z.string(),
  email: z.string().describe('Of a refused sign-in: the one that was given'),
  proxyName: z.string().describe('Empty where the account acted itself'),
  method: z.string(),
  url: z.string().describe('Without its query'),
  status: z.int().describe('0: the server stopped before it answered'),
  code: z.int().nullable().describe('Error code of a failed call, of a batch the one that its entries share'),
  callCount: z.int().describe('Calls of the action; above 1000 not counted'),
  failedCount: z.int().describe('How many of them failed or got no response'),
  address: z.string(),
  device: z.string().describe('The browser or program, in its own words'),
  changeCount: z.int().describe('Rows that the action added, changed or removed'),
  operation: z.string().describe('Feature and name of the call: errorPages.create. Empty: no such call any more'),
  kind: z.string().describe('Of the targets: the kind that the call is about'),
  targets: z.array(AuditTarget).describe('By kind, without `within`; those of the address first'),
  within: AuditItem.extend({ kind }).nullable().describe('What contains the objects: a site, a zone, a domain'),
  values: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .describe('What else the sentence says: a version, a switch'),
});
export type AuditEntry = z.output<typeof AuditEntry>;

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

export const AuditCall = AuditEntry.pick({ reqID: true, time: true, status: true, code: true, changeCount: true });
export type AuditCall = z.output<typeof AuditCall>;

export const AuditDetailQuery = z.object({ detail });
export type AuditDetailQuery = z.output<typeof AuditDetailQuery>;
export const AuditDetail = AuditEntry.extend({
  calls: z.array(AuditCall).describe('The first hundred, oldest first'),
  changes: z.array(AuditChange),
  names: z.record(z.string(), z.string()).describe('Names of the objects whose ids are values of the changes'),
});
export type AuditDetail = z.output<typeof AuditDetail>;

/** A search reads this many of the newest matching calls. */
export const AUDIT_COUNTED = 10_000;
