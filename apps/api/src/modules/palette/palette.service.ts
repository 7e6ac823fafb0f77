import { isAddress } from '@edgeloom/contract/common/net.ts';
import type { Found, SearchInput } from '@edgeloom/contract/palette/palette.ts';
import type { Ctx } from '../../core/ctx.ts';
import * as accounts from '../accounts/accounts.service.ts';
import * as nodes from '../nodes/nodes.service.ts';
import * as queries from './palette.queries.ts';

/** The closest matches of this many are returned. */
const MIN_COMPARED = 200;
const none = { data: [] };

export async function search(ctx: Ctx, { text, only, pageSize }: SearchInput): Promise<Found> {
  const { kind, permissions } = ctx.actor;
  const seesNodes = kind === 'client' && permissions.has('node:read') && only !== 'tags';
  const seesAccounts = permissions.has('account:read') && only === undefined;
  const page = { page: 1, pageSize: Math.max(MIN_COMPARED, pageSize), sortBy: 'name', orderBy: 'asc' } as const;
  const [rows, ofNodes, ofAccounts] = await Promise.all([
    only === 'nodes'
      ? { sites: [], domains: [], zones: [], products: [] }
      : queries.search(ctx, text, only === 'tags', pageSize),
    // Node status is computed outside SQL; there are few enough nodes to read them all.
    seesNodes ? nodes.list(ctx, { ...page, ...(isAddress(text) ? { ip: text } : { name: text }) }) : none,
    seesAccounts ? accounts.list(ctx, { ...page, name: text }) : none,
  ]);
  return {
    ...rows,
    nodes: nearest(ofNodes.data, text, ({ name }) => [name]).slice(0, pageSize),
    accounts: nearest(ofAccounts.data, text, ({ email, name }) => [email, name]).slice(0, pageSize),
  };
}

/** Exact names first, then names that begin with the text, then names with a word that does. */
function nearest<Row>(rows: readonly Row[], typed: string, namesOf: (row: Row) => readonly string[]): Row[] {
  const text = typed.toLowerCase();
  const rankOf = (name: string) => {
    if (name === text) return 0;
    if (name.startsWith(text)) return 1;
    return name.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(text)) ? 2 : 3;
  };
  const ranks = new Map(rows.map((row) => [row, Math.min(...namesOf(row).map((name) => rankOf(name.toLowerCase())))]));
  return rows.toSorted((a, b) => (ranks.get(a) ?? 3) - (ranks.get(b) ?? 3));
}
