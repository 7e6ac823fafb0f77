import * as z from 'zod';
import { Id, Text, Time } from '../common/common.ts';
import { pathPatternError } from '../common/paths.ts';
import { moduleFields, ModuleName } from './modules.ts';
import { sourceFault, targetFault } from './redirect-rules.ts';

export const REDIRECTS_OF_A_SITE = 3000;

export const UrlRedirectInput = z.object({ name: ModuleName });
export const UrlRedirectUpdate = UrlRedirectInput.extend({ id: Id });
export const UrlRedirect = z.object({
  ...moduleFields,
  redirectCount: z.int().describe('Rules in it, those that are off included'),
});

export const RedirectType = z.enum(['exact', 'prefix', 'regex']);
export const RedirectCode = z.union([z.literal(301), z.literal(302), z.literal(307), z.literal(308)]);

const fields = {
  type: RedirectType.describe('The whole path; a path and all below it; or a pattern over the path'),
  source: z
    .string()
    .trim()
    .min(1)
    .max(1024)
    .describe('/old, /old?id=1, www.example.com/old; of a pattern: over the path, with up to nine groups'),
  target: z
    .string()
    .trim()
    .min(1)
    .max(2048)
    .describe('/new or https://www.example.com/new; with a pattern, $1 is its first group'),
  code: RedirectCode.default(301),
  keepQuery: z.boolean().default(true).describe("The visitor's query goes along"),
  keepRest: z.boolean().default(true).describe('Of a prefix: what follows it goes along'),
  priority: z.int().min(0).max(10_000).default(100).describe('Of patterns: lower comes first'),
  enabled: z.boolean().default(true),
};
const coherent = (
  rule: { type: 'exact' | 'prefix' | 'regex'; source: string; target: string; keepRest: boolean },
  ctx: z.RefinementCtx,
) => {
  const source = rule.type === 'regex' ? pathPatternError(rule.source) : sourceFault(rule.type, rule.source);
  if (source) ctx.addIssue({ code: 'custom', path: ['source'], message: source });
  const target = targetFault(rule);
  if (target) ctx.addIssue({ code: 'custom', path: ['target'], message: target });
};
export const RedirectInput = z.object(fields).superRefine(coherent);
export const RedirectUpdate = z.object({ id: Id, ...fields }).superRefine(coherent);
export const Redirect = z.object({
  id: Id,
  type: RedirectType,
  source: z.string(),
  target: z.string(),
  code: z.int(),
  keepQuery: z.boolean(),
  keepRest: z.boolean(),
  priority: z.int(),
  enabled: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
});

export const ReplaceInput = z.object({
  from: Text.describe('A part of targets, as it stands'),
  to: z.string().trim().max(1024),
  preview: z.boolean().default(false).describe('Says what would change, and changes nothing'),
});
export const Replaced = z.object({
  count: z.int(),
  data: z
    .array(z.object({ id: Id, source: z.string(), before: z.string(), after: z.string() }))
    .describe('The first hundred'),
});

export type UrlRedirect = z.output<typeof UrlRedirect>;
export type Redirect = z.output<typeof Redirect>;
export type RedirectInput = z.output<typeof RedirectInput>;
export type RedirectUpdate = z.output<typeof RedirectUpdate>;
export type ReplaceInput = z.output<typeof ReplaceInput>;
