// Copies a part of a site to other sites. It replaces the targets' part of that kind, each as a version.
import * as z from 'zod';
import { Id } from '../common/common.ts';
import { SiteRule } from '../site-rules.ts';

const SITES_OF_A_COPY = 20;

const siteIDs = z
  .array(Id)
  .min(1)
  .max(SITES_OF_A_COPY)
  .refine((ids) => new Set(ids).size === ids.length, { message: 'named twice' });

export const CopiedSetting = z.enum(['cache', 'gzip', ...SiteRule.options]);
export type CopiedSetting = z.output<typeof CopiedSetting>;

export const CopySettingsInput = z.object({
  siteIDs,
  settings: z
    .array(CopiedSetting)
    .min(1)
    .max(CopiedSetting.options.length)
    .describe('Each replaces what the other sites have of it'),
});
export type CopySettingsInput = z.output<typeof CopySettingsInput>;

export const CopyModulesInput = z.object({
  siteIDs,
  ids: z
    .array(Id)
    .min(1)
    .max(100)
    .describe('A module of the same kind and name takes over what these say, and stays assigned'),
});
export type CopyModulesInput = z.output<typeof CopyModulesInput>;
