import { isAddress } from '@edgeloom/contract/common/net.ts';
import type { Found, SearchInput } from '@edgeloom/contract/palette/palette.ts';
import type { Ctx } from '../../core/ctx.ts';
import * as accounts from '../accounts/accounts.service.ts';
import * as nodes from '../nodes/nodes.service.ts';
import * as queries from './palette.queries.ts';

const page = { page: 1, pageSize: 6, sortBy: 'name', orderBy: 'asc' } as const;
const none = { data: [] };

export async function search(ctx: Ctx, { text, only }: SearchInput): Promise<Found> {
  const { kind, permissions } = ctx.actor;
  const seesNodes = kind === 'client' && permissions.has('node:read') && only !== 'tags';
  const seesAccounts = permissions.has('account:read') && only === undefined;
  const [rows, ofNodes, ofAccounts] = await Promise.all([
    only === 'nodes' ? { sites: [], domains: [], zones: [], products: [] } : queries.search(ctx, text, only === 'tags'),
    // What a node's state is says one place; there are never so many of them that its query would matter.
    seesNodes ? nodes.list(ctx, { ...page, ...(isAddress(text) ? { ip: text } : { name: text }) }) : none,
    seesAccounts ? accounts.list(ctx, { ...page, name: text }) : none,
  ]);
  return { ...rows, nodes: ofNodes.data, accounts: ofAccounts.data };
}
