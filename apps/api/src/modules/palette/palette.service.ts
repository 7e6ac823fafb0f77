import { isAddress } from '@edgeloom/contract/common/net.ts';
import type { Paging } from '@edgeloom/contract/common/common.ts';
import type { Found, SearchInput } from '@edgeloom/contract/palette/palette.ts';
import type { Ctx } from '../../core/ctx.ts';
import * as accounts from '../accounts/accounts.service.ts';
import * as nodes from '../nodes/nodes.service.ts';
import * as queries from './palette.queries.ts';

const none = { data: [] };

export async function search(ctx: Ctx, { text, only, pageSize }: SearchInput): Promise<Found> {
  const { kind, permissions } = ctx.actor;
  const seesNodes = kind === 'client' && permissions.has('node:read') && only !== 'tags';
  const seesAccounts = permissions.has('account:read') && only === undefined;
  const page = { page: 1, pageSize, sortBy: 'name', orderBy: 'asc' } as const;
  const [rows, ofNodes, ofAccounts] = await Promise.all([
    only === 'nodes'
      ? { sites: [], domains: [], zones: [], products: [] }
      : queries.search(ctx, text, only === 'tags', pageSize),
    seesNodes ? nodesNamed(ctx, text, page) : none,
    seesAccounts ? accountsNamed(ctx, text, page) : none,
  ]);
  return { ...rows, nodes: ofNodes.data, accounts: ofAccounts.data };
}

type Page = Paging<'name'>;

async function nodesNamed(ctx: Ctx, text: string, page: Page) {
  if (isAddress(text)) return nodes.list(ctx, { ...page, ip: text });
  const ids = await queries.closestNodes(ctx, text, page.pageSize);
  const { data } = await nodes.list(ctx, { ...page, ids });
  return { data: inOrder(data, ids) };
}

async function accountsNamed(ctx: Ctx, text: string, page: Page) {
  const ids = await queries.closestAccounts(ctx, text, page.pageSize);
  const { data } = await accounts.list(ctx, { ...page, ids });
  return { data: inOrder(data, ids) };
}

const inOrder = <Row extends { id: string }>(rows: readonly Row[], ids: readonly string[]) =>
  rows.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
