import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { checkPaths, PathType, PathValues } from '../common/paths.ts';

const QueryName = z.string().trim().min(1).max(128);

export const CacheRuleType = PathType.exclude(['all']);
export const QueryHandling = z.enum(['all', 'none', 'listed', 'sorted']);

const fields = {
  type: CacheRuleType.describe(
    'What of a request is compared: the extension, the whole path, how the path begins, or a pattern over the path',
  ),
  value: PathValues.min(1),
  cacheTime: z.int().min(0).max(31_536_000).describe('Seconds; 0: never cache what matches'),
  honourOrigin: z.boolean().default(false).describe('Where the origin states a lifetime of its own, that one wins'),
  query: QueryHandling.default('all').describe('Which part of the query string tells two objects apart'),
  queryNames: z.array(QueryName).max(50).default([]).describe("With 'listed': the parameters that count"),
  priority: z.int().min(0).max(10_000).default(100).describe('Lower comes first; the first rule that matches wins'),
  enabled: z.boolean().default(true),
};
const coherent = (
  rule: { type: z.output<typeof CacheRuleType>; value: string[]; query: string; queryNames: string[] },
  ctx: z.RefinementCtx,
) => {
  checkPaths(rule, ctx);
  if (rule.query === 'listed' && rule.queryNames.length === 0)
    ctx.addIssue({ code: 'custom', path: ['queryNames'], message: 'required' });
};

export const CacheRuleInput = z.object(fields).superRefine(coherent);
export const CacheRuleUpdate = z.object({ id: Id, ...fields }).superRefine(coherent);
export const CacheRule = z.object({
  id: Id,
  type: CacheRuleType,
  value: z.array(z.string()),
  cacheTime: z.int(),
  honourOrigin: z.boolean(),
  query: QueryHandling,
  queryNames: z.array(z.string()),
  priority: z.int(),
  enabled: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
});

/** 1 URL, 3 whole host. (2 prefix and 4 tag purge by other means and come with them.) */
export const PurgeInput = z.object({
  type: z.union([z.literal(1), z.literal(3)]),
  urls: z
    .array(z.string().trim().min(1).max(4096))
    .min(1)
    .max(1000)
    .describe('http:// or https:// URLs of this site; of a host purge, host names'),
});
export const PurgeRow = z.object({
  id: Id,
  type: z.int(),
  urls: z.array(z.string()),
  state: z.enum(['processing', 'completed', 'failed']),
  jobID: Id.nullable(),
  createdBy: z.string(),
  createdAt: Time,
});
export type CacheRule = z.output<typeof CacheRule>;
export type CacheRuleInput = z.output<typeof CacheRuleInput>;
export type CacheRuleUpdate = z.output<typeof CacheRuleUpdate>;
export type PurgeInput = z.output<typeof PurgeInput>;
