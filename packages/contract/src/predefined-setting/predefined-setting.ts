// The settings that new sites of an operator begin with.
import * as z from 'zod';
import { Id } from '../common/common.ts';
import { CopiedSetting } from '../copies/copies.ts';

export const PredefinedSetting = z.object({
  siteID: Id.nullable().describe(
    'The site whose settings new sites begin with: one that no customer owns. Null: the usual defaults',
  ),
  settings: z
    .array(CopiedSetting)
    .max(CopiedSetting.options.length)
    .refine((names) => new Set(names).size === names.length, { message: 'named twice' })
    .describe('What is copied from it when a site is created. Later changes of it leave existing sites alone'),
});

export type PredefinedSetting = z.output<typeof PredefinedSetting>;
