// All settings of a site, for programs that keep a copy.
import * as z from 'zod';
import { CacheSetting } from '../cache/cache.ts';
import { Id } from '../common/common.ts';
import { Compression } from '../compression/compression.ts';
import { ModuleKind } from '../modules/modules.ts';
import { SiteZonePort } from '../ports/ports.ts';
import { siteRuleSettings } from '../site-rules.ts';

/** Null: the caller may not read this part. */
export const SiteSettings = z.object({
  cache: CacheSetting.nullable(),
  compression: Compression.nullable(),
  ...siteRuleSettings,
  modules: z
    .array(z.object({ id: Id, kind: ModuleKind, name: z.string(), inUse: z.int() }))
    .nullable()
    .describe('Described at the calls of each kind'),
  dnsAccounts: z.int().nullable(),
  ports: z.array(SiteZonePort).describe('Of its zone; on which of them the site answers'),
  forwards: z.int().describe('Layer 4'),
});
export type SiteSettings = z.output<typeof SiteSettings>;
