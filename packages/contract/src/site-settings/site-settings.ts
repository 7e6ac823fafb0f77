// All settings of a site, for programs that keep a copy.
import * as z from 'zod';
import { CacheRule, CacheSetting } from '../cache/cache.ts';
import { Id } from '../common/common.ts';
import { Compression } from '../compression/compression.ts';
import { ErrorPage } from '../error-pages/error-pages.ts';
import { AntiHeader } from '../hotlink/hotlink.ts';
import { ModuleKind } from '../modules/modules.ts';
import { SiteZonePort } from '../ports/ports.ts';
import { Rate } from '../rates/rates.ts';

/** Null: the caller may not read this part. */
export const SiteSettings = z.object({
  cache: CacheSetting.nullable(),
  cacheRules: z.array(CacheRule).nullable(),
  compression: Compression.nullable(),
  rates: z.array(Rate).nullable(),
  errorPages: z.array(ErrorPage).nullable(),
  antiHeaders: z.array(AntiHeader).nullable().describe('For all domains of the site'),
  modules: z
    .array(z.object({ id: Id, kind: ModuleKind, name: z.string(), inUse: z.int() }))
    .nullable()
    .describe('What each does is told by the calls of its kind'),
  dnsAccounts: z.int().nullable(),
  ports: z.array(SiteZonePort).describe('Of its zone; on which of them the site answers'),
  forwards: z.int().describe('Layer 4'),
});
export type SiteSettings = z.output<typeof SiteSettings>;
