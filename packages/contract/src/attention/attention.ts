import * as z from 'zod';
import { Id, Time } from '../common/common.ts';
import { Licensed } from '../licenses/licenses.ts';
import { ModuleKind } from '../modules/modules.ts';

/** Filters of lists of sites. */
export const SiteAttention = z.enum([
  'sitesUnpublished',
  'cnameInactive',
  'certificatesMissing',
  'certificatesFailed',
  'certificatesEnding',
  'jobsFailed',
  'modulesUnused',
]);
/** Most severe first. */
export const AttentionKind = z.enum([
  'nodesRejected',
  'nodesOffline',
  'nodesFailingMonitors',
  'sitesUnpublished',
  'cnameInactive',
  'certificatesMissing',
  'certificatesFailed',
  'jobsFailed',
  'nodeJobsFailed',
  'licenseEnded',
  'installationLicenseEnded',
  'rolloutsStopped',
  'nodesDisconnected',
  'monitorsOffline',
  'nodesLosingLogs',
  'nodesBehind',
  'certificatesEnding',
  'licenseEnding',
  'licenseNearLimit',
  'installationLicenseMoved',
  'installationLicenseEnding',
  'installationLicenseNearLimit',
  'modulesUnused',
]);

export const AttentionItem = z.object({
  kind: AttentionKind,
  count: z.int().min(1),
  names: z.array(z.string()).max(3).describe('The first in alphabetical order'),
  site: z.object({ id: Id, name: z.string() }).nullable().describe('Where all of them belong to one site'),
  siteCount: z.int().describe('How many sites they belong to; 0: to none'),
  moduleKind: ModuleKind.nullable().describe(
    'Of modules: each kind of each site is an item. Null: those that are not listed one by one',
  ),
  accountID: Id.nullable().describe(
    "Of operators' licenses: the client's root account. Null: those that are not listed one by one",
  ),
  endsAt: Time.nullable().describe('Of licenses'),
  limit: z.object({ of: Licensed, uses: z.int(), most: z.int() }).nullable().describe('The license limit that is near'),
});
export const Attention = z.object({ data: z.array(AttentionItem) });

export type SiteAttention = z.output<typeof SiteAttention>;
export type AttentionKind = z.output<typeof AttentionKind>;
export type AttentionItem = z.output<typeof AttentionItem>;
export type Attention = z.output<typeof Attention>;
