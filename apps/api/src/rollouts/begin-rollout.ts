// Inserts a rollout in the caller's transaction. The workers are notified on commit.
import { randomUUIDv7 } from 'node:crypto';
import type { RolloutKind, RolloutStrategy } from '@edgeloom/contract/rollouts/rollouts.ts';
import { orFail } from '../core/conflict.ts';
import type { ScopedTx } from '../core/scope.ts';
import type { Prisma } from '../generated/client.ts';
import { assignWaves, wavesOf } from './wave-plan.ts';

export interface NewRollout {
  clientId: string;
  kind: RolloutKind;
  /** In the format of its kind. */
  target: Prisma.InputJsonObject;
  title: string;
  strategy: RolloutStrategy;
  reason: string;
  createdBy: string;
  /** Its nodes and their zones. Without nodes it completes at once. */
  nodeIds: string[];
  zoneIds: string[];
  /** When a node is in another rollout: wait for it, or fail with `BUSY`. */
  ifBusy: 'wait' | 'refuse';
  now: Date;
}

export async function beginRollout(tx: ScopedTx, wanted: NewRollout): Promise<string> {
  const { nodeIds, zoneIds, ifBusy, now, ...head } = wanted;
  const id = randomUUIDv7();
  const waves = wavesOf(head.strategy);
  const nodes = await tx.edgeNode.findMany({
    where: { id: { in: nodeIds } },
    select: { id: true, name: true, zoneId: true, enabled: true, kind: true, role: true },
  });
  const connected = await tx.nodeState.findMany({
    where: { nodeId: { in: nodeIds }, connectedAt: { not: null } },
    select: { nodeId: true },
  });
  const there = new Set(connected.map(({ nodeId }) => nodeId));
  const candidates = nodes.map((node) => ({
    nodeId: node.id,
    name: node.name,
    zoneId: node.zoneId,
    isConnected: there.has(node.id),
    isServing: node.enabled && node.kind === 'edge',
    isMain: node.role === 'main',
  }));
  const plan = assignWaves(candidates, [], waves);
  await tx.rollout.create({ data: { id, ...head, createdAt: now } });
  await tx.rolloutZone.createMany({ data: zoneIds.map((zoneId) => ({ rolloutId: id, zoneId })) });
  await tx.rolloutWave.createMany({ data: waves.map((wave) => ({ rolloutId: id, ...wave })) });
  const rows = nodes.map((node) => ({
    rolloutId: id,
    nodeId: node.id,
    wave: plan.get(node.id) ?? 0,
    active: ifBusy === 'refuse',
  }));
  await orFail('BUSY', tx.rolloutNode.createMany({ data: rows }));
  return id;
}
