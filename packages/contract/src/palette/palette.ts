import * as z from 'zod';
import { Account } from '../accounts/accounts.ts';
import { Text } from '../common/common.ts';
import { Domain } from '../domains/domains.ts';
import { EdgeNode } from '../nodes/nodes.ts';
import { Product } from '../products/products.ts';
import { Site } from '../sites/sites.ts';
import { Zone } from '../zones/zones.ts';

export const SearchInput = z.object({
  text: Text.describe('Part of a name, an address, or the start of a tag'),
  only: z.enum(['nodes', 'tags']).optional().describe('Nodes alone; or sites and domains by their tags'),
  pageSize: z.int().min(1).max(500).default(6).describe('Results of each kind'),
});

/** The first results of each kind. Empty where the caller may not read. */
export const Found = z.object({
  sites: z.array(Site.pick({ id: true, name: true, status: true, productName: true })),
  domains: z.array(
    Domain.pick({ id: true, siteID: true, name: true, status: true, cnameStatus: true, certStatus: true }).extend({
      siteName: z.string(),
    }),
  ),
  nodes: z.array(EdgeNode.pick({ id: true, name: true, ip: true, status: true, zoneID: true, zoneName: true })),
  zones: z.array(Zone.pick({ id: true, name: true })),
  products: z.array(Product.pick({ id: true, name: true, zoneName: true })),
  accounts: z.array(Account.pick({ id: true, email: true, name: true, auth: true })),
});
export type SearchInput = z.output<typeof SearchInput>;
export type Found = z.output<typeof Found>;
