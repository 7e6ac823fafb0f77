// A group as it is shown, with what its name answers now.
import { GroupStanding, type Group } from '@edgeloom/contract/groups/groups.ts';
import type { Prisma } from '../../generated/client.ts';

export const include = {
  backupGroup: { select: { name: true } },
  state: { select: { state: true, since: true } },
  members: { select: { nodeId: true, virtualNodeId: true } },
  _count: { select: { sites: true } },
} satisfies Prisma.GroupInclude;
type Row = Prisma.GroupGetPayload<{ include: typeof include }>;

export const groupOf = (row: Row): Group => ({
  id: row.id,
  name: row.name,
  priority: row.priority,
  backupGroupID: row.backupGroupId,
  backupGroupName: row.backupGroup?.name ?? null,
  forcedAt: row.forcedAt,
  lines: row.lines,
  dnsLabel: row.dnsLabel,
  state: GroupStanding.catch('empty').parse(row.state?.state ?? 'empty'),
  stateSince: row.state?.since ?? null,
  siteCount: row._count.sites,
  nodeCount: new Set(row.members.map(({ nodeId, virtualNodeId }) => nodeId ?? virtualNodeId)).size,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});
