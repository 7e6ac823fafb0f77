// Block and allow lists that the control plane fetches from a URL and keeps up to date.
import * as z from 'zod';
import { Id, paging, Text, Time } from '../common/common.ts';
import { HttpUrl } from '../common/http-url.ts';

/** Limits per site. */
export const MAX_LIST_SOURCES = 10;
export const MAX_SOURCE_ENTRIES = 100_000;
export const MAX_SOURCE_BYTES = 10_000_000;
/** Lines of a list without a usable entry. */
export const MAX_REJECTED_LINES = 100_000;

/** In minutes. */
export const sourceIntervals = [5, 15, 60, 360, 1440] as const;

const source = {
  name: Text,
  url: HttpUrl.describe('Text with one address, network or range (a-b) per line; # and ; begin comments'),
  isBlack: z.boolean().default(true).describe('false: an allow list'),
  monitor: z.boolean().default(false).describe('Only logged as "would have blocked"'),
  intervalMinutes: z.literal(sourceIntervals).default(60).describe('Between two fetches'),
  enabled: z.boolean().default(true).describe('false: neither fetched nor applied'),
};
export const ListSourceInput = z.object(source);
export const ListSourceUpdate = z.object({ id: Id, ...source });

/** Why the last fetch failed. The copy before it stays in force. notAllowed: also a name that is not resolved. */
export const ListSourceError = z.enum([
  'unreachable',
  'notAllowed',
  'status',
  'compressed',
  'tooLarge',
  'unreadable',
  'noEntries',
  'tooManyEntries',
  'tooManyRejected',
  'tooBroad',
]);
export const ListSource = z.object({
  id: Id,
  name: z.string(),
  url: z.string(),
  isBlack: z.boolean(),
  monitor: z.boolean(),
  intervalMinutes: z.int(),
  enabled: z.boolean(),
  entries: z.int().describe('Of the copy in force'),
  added: z.int().describe('By the last fetch that changed the copy'),
  removed: z.int().describe('By the last fetch that changed the copy'),
  rejected: z.int().describe('Lines of the copy without a usable entry, including private and very large networks'),
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
export type ListSourceError = z.output<typeof ListSourceError>;
