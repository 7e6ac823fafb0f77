// Nodes and rollouts that need attention, by name. The dashboard counts them, and alerts are raised for them.
import type { AttentionKind } from '@edgeloom/contract/attention/attention.ts';
import type { Ctx } from '../../core/ctx.ts';
import type { Prisma } from '../../generated/client.ts';
import { readHealth } from '../nodes/node-severity.ts';
import { hasFailedJob, isLosingLogs, isRolloutStopped } from './conditions.ts';

type Reading = Pick<Ctx, 'db' | 'now'>;
interface NodeCondition {
  kind: AttentionKind;
  id: string;
  zoneId: string;
  name: string;
}

export async function nodeConditions({ db, now }: Reading): Promise<NodeCondition[]> {
  const orderBy = { name: 'asc' } as const;
  const find = (where: Prisma.EdgeNodeWhereInput) =>
    db.edgeNode.findMany({ where, select: { id: true, zoneId: true, name: true }, orderBy });
  const [found, failed, losing] = await Promise.all([
    readHealth({ db, now }, { orderBy }),
    find(hasFailedJob(true, now())),
    find(isLosingLogs(true, now())),
  ]);
  const as = (kind: AttentionKind, nodes: readonly Omit<NodeCondition, 'kind'>[]) =>
    nodes.map(({ id, zoneId, name }) => ({ kind, id, zoneId, name }));
  return [
    ...as(
      'nodesRejected',
      found.filter(({ status }) => status === 'rejected'),
    ),
    ...as(
      'nodesOffline',
      found.filter(({ status }) => status === 'offline'),
    ),
    ...as(
      'nodesDisconnected',
      found.filter(({ status }) => status === 'natsError'),
    ),
    ...as(
      'nodesBehind',
      found.filter(({ isBehind }) => isBehind),
    ),
    ...as('nodeJobsFailed', failed),
    ...as('nodesLosingLogs', losing),
  ];
}

export const stoppedRollouts = async ({ db, now }: Reading): Promise<{ id: string; name: string }[]> => {
  const where = isRolloutStopped(now());
  const rows = await db.rollout.findMany({ where, select: { id: true, title: true }, orderBy: { title: 'asc' } });
  return rows.map(({ id, title }) => ({ id, name: title }));
};
