// Orders nodes by how much they need attention, for the list, its filters, and the counts of the dashboard.
import type { NodeStatus } from '@edgeloom/contract/nodes/nodes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { sql } from '../../core/sql.ts';
import type { Prisma } from '../../generated/client.ts';
import { standIns } from './node-row.ts';
import { nodeStatus } from './node-status.ts';

export interface NodeHealth {
  id: string;
  name: string;
  status: NodeStatus;
  /** The node lacks a revision that was published more than BEHIND_SECONDS ago, and has no other problem. */
  isBehind: boolean;
}

/** Nodes usually apply a revision within seconds. */
const BEHIND_SECONDS = 60;

const ranks: Readonly<Record<NodeStatus, number>> = {
  rejected: 0,
  offline: 1,
  natsError: 2,
  reconnecting: 4,
  enabled: 5,
  backupPaused: 5,
  uninitialized: 6,
  disabled: 7,
};
const BEHIND_RANK = 3;
export const severityOf = ({ status, isBehind }: Pick<NodeHealth, 'status' | 'isBehind'>) =>
  isBehind ? BEHIND_RANK : ranks[status];

/** In the given order. */
export async function readHealth(
  { db, now }: Ctx,
  query: Pick<Prisma.EdgeNodeFindManyArgs, 'where' | 'orderBy'> = {},
): Promise<NodeHealth[]> {
  const state = {
    select: { connectedAt: true, disconnectedAt: true, lastSeenAt: true, rejected: true, nginx: true },
  } as const;
  const [rows, late] = await Promise.all([
    db.edgeNode.findMany({
      ...query,
      select: { id: true, name: true, role: true, enabled: true, joinedAt: true, state },
    }),
    readLate(db),
  ]);
  const standing = await standIns(db, rows);
  return rows.map((row) => {
    const status = nodeStatus({ ...row, standsIn: standing.has(row.id) }, row.state, now());
    const isWell = status === 'enabled' || status === 'backupPaused';
    return { id: row.id, name: row.name, status, isBehind: isWell && late.has(row.id) };
  });
}

/** Ids of nodes whose oldest missing document was published more than BEHIND_SECONDS ago. */
async function readLate(db: Ctx['db']): Promise<Set<string>> {
  const rows = await db.$read<{ id: string }>(
    ({ zone }) => sql`SELECT n.id FROM zones z JOIN nodes n ON n.zone_id = z.id JOIN node_states t ON t.node_id = n.id
      WHERE ${zone} AND t.revision < z.revision AND coalesce((SELECT e.updated_at FROM edge_documents e
        WHERE e.zone_id = z.id AND e.revision > t.revision ORDER BY e.revision LIMIT 1), '-infinity')
        < now() - make_interval(secs => ${BEHIND_SECONDS})`,
  );
  return new Set(rows.map(({ id }) => id));
}
