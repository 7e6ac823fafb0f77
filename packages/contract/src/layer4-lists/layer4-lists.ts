// Black and white lists of addresses for the port forwards (layer 4) of a site.
import * as z from 'zod';
import { AddressEntries } from '../common/address-ranges.ts';
import { Id, Memo, paging, Time } from '../common/common.ts';

/** Entries of all lists of a site. Each forward's server in nginx.conf contains them. */
export const MAX_LAYER4_ENTRIES = 1000;
export const MAX_LAYER4_LISTS = 100;

const list = {
  ips: AddressEntries.max(MAX_LAYER4_ENTRIES).describe('Addresses, networks, and ranges (a-b)'),
  memo: Memo.default(''),
  enabled: z.boolean().default(true),
};
export const Layer4ListInput = z.object(list);
export const Layer4ListUpdate = z.object({ id: Id, ...list });
export const Layer4List = z.object({
  id: Id,
  ips: z.array(z.string()),
  memo: z.string(),
  enabled: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
});
export const Layer4ListQuery = paging(['createdAt', 'updatedAt']).extend({
  keyword: z.string().max(256).optional().describe('An entry, or part of the memo'),
});
/** A list of either kind, in settings. */
export const Layer4ListOfSite = Layer4List.extend({ isBlack: z.boolean() });

export type Layer4ListInput = z.output<typeof Layer4ListInput>;
export type Layer4ListUpdate = z.output<typeof Layer4ListUpdate>;
export type Layer4List = z.output<typeof Layer4List>;
export type Layer4ListQuery = z.output<typeof Layer4ListQuery>;
