import * as z from 'zod';
import { Id, Text, Time } from '../common/common.ts';
import { LogFilter } from '../logs/logs.ts';
import { checkNoSite } from '../statistics/statistics.ts';

/** Limit per account. */
export const SAVED_SEARCHES = 100;

const MAX_LENGTH = 20_000;

export const SavedSearchInput = z.object({
  name: Text,
  filter: LogFilter.superRefine(checkNoSite).refine(
    (filter) => JSON.stringify(filter).length <= MAX_LENGTH,
    `at most ${MAX_LENGTH} characters`,
  ),
});
export type SavedSearchInput = z.output<typeof SavedSearchInput>;
export const SavedSearchUpdate = SavedSearchInput.extend({ id: Id });
export type SavedSearchUpdate = z.output<typeof SavedSearchUpdate>;
export const SavedSearch = z.object({ id: Id, name: z.string(), filter: LogFilter, createdAt: Time, updatedAt: Time });
export type SavedSearch = z.output<typeof SavedSearch>;
