import * as z from 'zod';
import { Id } from '../common/common.ts';
import { HostHeader } from '../common/net.ts';
import { pathError, pathPatternError } from '../common/paths.ts';
import { moduleFields, ModuleName } from './modules.ts';
import { sourceFault, targetFault } from './redirect-rules.ts';

export const RewriteType = z.enum(['exact', 'prefix', 'regex']);

export const RewriteRule = z
  .object({
    type: RewriteType.describe('The whole path; a path and all below it; or a pattern over the path'),
    source: z.string().trim().min(1).max(1024).describe('/old; of a pattern: over the path, with up to nine groups'),
    target: z
      .string()
      .trim()
      .min(1)
      .max(1024)
      .describe('Path that the origin is asked for, with a query where one is to be sent; $1 is the first group'),
    keepRest: z.boolean().default(true).describe('Of a prefix: what follows it goes along'),
    keepQuery: z.boolean().default(true).describe("The visitor's query goes along"),
    host: HostHeader.nullable().default(null).describe('Host field that the origin is asked with; null: as without'),
    enabled: z.boolean().default(true),
  })
  .superRefine((rule, ctx) => {
    const fault =
      rule.type === 'regex'
        ? pathPatternError(rule.source)
        : (pathError(rule.source) ?? sourceFault(rule.type, rule.source));
    if (fault) ctx.addIssue({ code: 'custom', path: ['source'], message: fault });
    const wrong = /^\/[^#]*$/.test(rule.target) ? targetFault(rule) : 'enter a path';
    if (wrong ?? !isDecodable(rule.target))
      ctx.addIssue({ code: 'custom', path: ['target'], message: wrong ?? 'wrong format' });
  });

function isDecodable(target: string): boolean {
  try {
    // oxlint-disable-next-line no-control-regex -- a path must not contain these
    return !/[\u0000-\u001f\u007f]/.test(decodeURIComponent(target.split('?')[0] ?? ''));
  } catch {
    return false;
  }
}

const rules = z.array(RewriteRule).max(100).describe('In turns; the first that matches wins');
export const ProxyRewriteInput = z.object({ name: ModuleName, rules: rules.default([]) });
export const ProxyRewriteUpdate = z.object({ id: Id, name: ModuleName, rules });
export const RewriteItems = z.object({ items: rules });
const shown = z.object({
  type: RewriteType,
  source: z.string(),
  target: z.string(),
  keepRest: z.boolean(),
  keepQuery: z.boolean(),
  host: z.string().nullable(),
  enabled: z.boolean(),
});
export const ProxyRewriteSettings = z.object({ rules: z.array(shown) });
export const ProxyRewrite = ProxyRewriteSettings.extend(moduleFields);

export type RewriteRule = z.output<typeof RewriteRule>;
export type ProxyRewrite = z.output<typeof ProxyRewrite>;
