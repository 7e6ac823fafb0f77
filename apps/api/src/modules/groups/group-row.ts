// A group as the API returns it, with the DNS answers of its name.
import { DEFAULT_LINE, GroupStanding, type Group } from '@edgeloom/contract/groups/groups.ts';
import * as z from 'zod';
import type { Prisma } from '../../generated/client.ts';

export const include = {
  backupGroup: { select: { name: true } },
  state: { select: { state: true, since: true, answered: true } },
  members: { select: { nodeId: true, virtualNodeId: true } },
  _count: { select: { sites: true } },
} satisfies Prisma.GroupInclude;
const Outcomes = z.record(z.string(), z.array(z.object({ isAnswered: z.boolean(), addresses: z.array(z.string()) })));
const addressesOf = (answered: unknown) => [
  ...new Set(
    (Outcomes.catch({}).parse(answered)[DEFAULT_LINE] ?? []).flatMap(({ isAnswered, addresses }) =>
      isAnswered ? addresses : [],
    ),
  ),
];
type Row = Prisma.GroupGetPayload<{ include: typeof include }>;

export const groupOf = (row: Row): Group => ({
  id: row.id,
  name: row.name,
  priority: row.priority,
  backupGroupID: row.backupGroupId,
  backupGroupName: row.backupGroup?.name ?? null,
  forcedAt: row.forcedAt,
  lines: row.lines,
  serverIP: addressesOf(row.state?.answered),
  dnsLabel: row.dnsLabel,
  state: GroupStanding.catch('empty').parse(row.state?.state ?? 'empty'),
  stateSince: row.state?.since ?? null,
  siteCount: row._count.sites,
  nodeCount: new Set(row.members.map(({ nodeId, virtualNodeId }) => nodeId ?? virtualNodeId)).size,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});
