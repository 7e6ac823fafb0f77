// Versions of a site's configuration. Each transaction that changes it creates one, and any version can be restored.
import * as z from 'zod';
import { Id, NameSearch, Time } from '../common/common.ts';

/** 0 is the state before the first version. */
export const VersionNumber = z.coerce.number<string | number>().int().min(0).max(2_147_483_647);

const Kind = z.string().describe('What kind of thing: domains, upstreams, cacheRules');

export const Version = z.object({
  id: z.string().describe('The number as text'),
  version: z.int(),
  at: Time,
  accountName: z.string().describe('Empty where the product itself was at work'),
  proxyName: z.string().describe('Who acted as the account; empty where it acted itself'),
  reqID: Id.nullable().describe('The call, as the operation log has it'),
  reason: z.string(),
  restores: z.int().nullable().describe('Of a roll-back: the version that it leads to'),
  changes: z.array(
    z.object({
      kind: Kind,
      added: z.int(),
      changed: z.int(),
      removed: z.int(),
      names: z.array(z.string()).describe('Of the first three'),
    }),
  ),
});
export type Version = z.output<typeof Version>;

/** Search by number, account and reason, for the options of a field. */
export const VersionSearch = NameSearch.extend({
  keyword: z.string().max(256).optional().describe('How the number begins, or part of the account or the reason'),
  ids: z.array(VersionNumber).min(1).max(1000).optional(),
});
export type VersionSearch = z.output<typeof VersionSearch>;
export const VersionChoice = z.object({
  id: z.string().describe('The number as text'),
  name: z.string().describe('Who made it; empty where the product itself was at work'),
  at: Time,
});

const Value = z.unknown().describe('Secrets are masked, long texts cut');
export const Difference = z.object({
  kind: Kind,
  key: z.string(),
  name: z.string(),
  parent: z.string().describe('The domain, module or forward that it belongs to; empty where it belongs to the site'),
  action: z.enum(['added', 'changed', 'removed']),
  fields: z.array(z.object({ field: z.string(), before: Value, after: Value })),
});
export type Difference = z.output<typeof Difference>;

export const Comparison = z.object({
  version: z.int(),
  against: z.int(),
  data: z.array(Difference).describe('From `against` to `version`; a page of it'),
  total: z.int(),
  current: z.int().describe('The newest version'),
  oldest: z.int().describe('The oldest that can be had back'),
});

export const RollbackInput = z.object({ reason: z.string().trim().max(500).default('') });

export const Settled = z.object({
  kind: Kind,
  name: z.string(),
  rule: z
    .enum(['certificateGone', 'portGone'])
    .describe('certificateGone: the domain goes without; portGone: the port stays closed'),
});
export const Rollback = z.object({
  version: z.int().describe('The version that the roll-back made; where nothing had to be changed, the newest'),
  total: z.int().describe('Rows that differ'),
  settled: z.array(Settled).describe('What cannot be as it was'),
});
export const RollbackPreview = z.object({
  data: z.array(Difference).describe('From now to what would be; the first 200'),
  total: z.int(),
  settled: z.array(Settled),
  faults: z
    .array(
      z.object({
        code: z.int(),
        rule: z.string().optional(),
        message: z.string().optional(),
        values: z
          .record(z.string(), z.union([z.string(), z.number()]))
          .optional()
          .describe('What the phrase of the code or rule mentions'),
        targets: z.array(z.string()),
      }),
    )
    .describe('What stands in the way; the roll-back is refused with 101009 and these'),
});
export type RollbackPreview = z.output<typeof RollbackPreview>;
