// Addresses that are blocked for a limited time, across zones. Operators see those of their zones, customers those
// found at their sites.
import * as z from 'zod';
import { Id, Memo, paging, Time } from '../common/common.ts';
import { AddressEntry } from '../common/address-ranges.ts';
import { ListURL } from '../firewall/firewall.ts';
import { BlockColumn, blockCauses, BlockedIP } from '../ipset/ipset.ts';

const Named = z.object({ id: Id, name: z.string() });
const Causes = z.array(z.enum(blockCauses)).max(blockCauses.length).optional();

export const BlockedAddress = z.object({
  id: Id,
  ip: z.string().describe('An IPv4 address, or the /64 of IPv6 that counts as one'),
  cause: z.string().describe('One of the causes; an edge of a later version may know more'),
  rule: z.object({ id: z.string(), name: z.string().nullable() }).nullable().describe('That blocked it'),
  site: Named.nullable().describe('Where it was blocked; null: by hand, for the whole zone'),
  onlySite: z.boolean().describe('Only this site refuses it; else all of the zone'),
  zone: Named.nullable().describe('Only for operators'),
  node: Named.nullable().describe('That saw it first; only for operators'),
  author: z.string().describe('Who blocked it by hand; only for operators'),
  since: Time,
  until: Time,
});

export const SiteBlocksQuery = paging([...BlockColumn]).extend({
  ips: z.array(z.string().trim().min(1).max(50)).max(100).optional().describe('Addresses, or how they begin'),
  causes: Causes,
});
export const BlocksQuery = SiteBlocksQuery.extend({ siteID: Id.optional(), zoneID: Id.optional() });

export const SiteUnblocking = z.object({ ips: z.array(BlockedIP).min(1).max(1000) });
export const Unblocking = z
  .object({
    ids: z.array(Id).min(1).max(1000).optional(),
    ips: SiteUnblocking.shape.ips.optional(),
    all: z.literal(true).optional(),
    causes: Causes.describe('Only these'),
    siteID: Id.optional().describe('Only of this site'),
    zoneID: Id.optional().describe('Only of this zone'),
  })
  .refine(({ ids, ips, all }) => ids !== undefined || ips !== undefined || all === true, {
    path: ['ips'],
    message: 'required',
  });
export const Unblocked = z.object({ removed: z.int().min(0) });

/** The caller's own address. */
export const OwnBlock = z.object({
  ip: z.string(),
  blocks: z.array(BlockedAddress.pick({ cause: true, since: true, until: true })).max(1000),
});

/** An entry for a site's list, from a request in the logs. */
export const ListEntry = z.object({
  ip: AddressEntry,
  until: Time.nullable().default(null).describe('null: forever'),
  memo: Memo.default('').describe('Of the list that gets the entry'),
});
export const Exemption = ListEntry.extend({ url: ListURL.optional().describe('Only there') });
/** The list that has the entry now. */
export const EntryAdded = z.object({ id: Id });

export type BlockedAddress = z.output<typeof BlockedAddress>;
export type BlocksQuery = z.output<typeof BlocksQuery>;
export type Unblocking = z.output<typeof Unblocking>;
export type Exemption = z.output<typeof Exemption>;
export type OwnBlock = z.output<typeof OwnBlock>;
