// Block and allow lists that the control plane fetches and keeps up to date.
import * as z from 'zod';
import { Id, paging, Text, Time } from '../common/common.ts';
import { HttpUrl } from '../common/http-url.ts';
import { secret } from '../common/secret.ts';

/** Limits per site, and per zone. */
export const MAX_LIST_SOURCES = 10;
export const MAX_SOURCE_ENTRIES = 100_000;
/** CrowdSec also sends decisions that have ended, and about 220 bytes for each. */
export const MAX_SOURCE_BYTES = { url: 10_000_000, crowdSec: 50_000_000 };
/** Lines of a list without a usable entry. */
export const MAX_REJECTED_LINES = 100_000;

/** url: text. crowdSec: the Local API (LAPI) of a CrowdSec installation. */
export const ListSourceKind = z.enum(['url', 'crowdSec']);

/** In minutes. */
export const sourceIntervals = [5, 15, 60, 360, 1440] as const;

const Key = z.string().regex(/^[\x21-\x7e]{0,512}$/, 'at most 512 printable characters without spaces');
const source = {
  name: Text,
  kind: ListSourceKind.default('url').describe('Cannot be changed'),
  url: HttpUrl.describe(
    'Text with one address, network or range (a-b) per line; # and ; begin comments. crowdSec: the base URL of its API',
  ),
  key: secret(Key)
    .optional()
    .describe('Of crowdSec: a bouncer’s API key. Left out or empty: the stored one, which requires the same URL'),
  isBlack: z.boolean().default(true).describe('false: an allow list, which crowdSec cannot be'),
  monitor: z.boolean().default(false).describe('Only logged as "would have blocked"'),
  intervalMinutes: z.literal(sourceIntervals).default(60).describe('Between two fetches'),
  enabled: z.boolean().default(true).describe('false: neither fetched nor applied'),
};
export const ListSourceInput = z.object(source);
/** Fields of the form. A new source of CrowdSec needs a key. */
export const NewCrowdSecSource = z.object({ ...source, key: secret(Key.min(1)) });
export const ListSourceUpdate = z.object({ id: Id, ...source });

/**
 * Why the last fetch failed. The copy before it stays in force. notAllowed: also a name that is not resolved.
 * keyMissing: the source was copied or restored, so that its key must be entered again.
 * tooFewEntries: most bans of CrowdSec are missing before their end. The next fetch is believed.
 */
export const ListSourceError = z.enum([
  'unreachable',
  'notAllowed',
  'keyMissing',
  'status',
  'compressed',
  'tooLarge',
  'unreadable',
  'noEntries',
  'tooFewEntries',
  'tooManyEntries',
  'tooManyRejected',
  'tooBroad',
]);
export const ListSource = z.object({
  id: Id,
  name: z.string(),
  kind: ListSourceKind,
  url: z.string(),
  hasKey: z.boolean(),
  isBlack: z.boolean(),
  monitor: z.boolean(),
  intervalMinutes: z.int(),
  enabled: z.boolean(),
  entries: z.int().describe('Of the copy in force'),
  added: z.int().describe('By the last fetch that changed the copy'),
  removed: z.int().describe('By the last fetch that changed the copy'),
  rejected: z.int().describe('Lines or decisions without a usable entry, including private and very large networks'),
  fetchedAt: Time.nullable().describe('When the copy was last known to be current. Null: there is none'),
  checkedAt: Time.nullable().describe('The last attempt'),
  error: ListSourceError.nullable().describe('Of the last attempt. Null: it succeeded'),
  status: z.int().nullable().describe('The HTTP status, if it is the error'),
  createdAt: Time,
  updatedAt: Time,
});
export const ListSourceQuery = paging(['createdAt', 'updatedAt']);

export type ListSource = z.output<typeof ListSource>;
export type ListSourceInput = z.output<typeof ListSourceInput>;
export type ListSourceKind = z.output<typeof ListSourceKind>;
export type ListSourceError = z.output<typeof ListSourceError>;
