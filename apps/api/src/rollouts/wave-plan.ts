// Assigns nodes to waves. A wave never exceeds its share of a zone. Online nodes come first, and among them those with
// traffic, which reveal problems.
import type { RolloutStrategy } from '@edgeloom/contract/rollouts/rollouts.ts';

export interface Wave {
  position: number;
  /** Cumulative share of each zone. Null: a single node. */
  percent: number | null;
}

export interface Candidate {
  nodeId: string;
  name: string;
  zoneId: string;
  isConnected: boolean;
  isServing: boolean;
  isMain: boolean;
}

export function wavesOf(strategy: RolloutStrategy): Wave[] {
  if (strategy.type === 'allAtOnce') return [{ position: 0, percent: 100 }];
  const shares = [...new Set([...strategy.percent, 100])].toSorted((a, b) => a - b);
  const percents = strategy.canary ? [null, ...shares] : shares;
  return percents.map((percent, position) => ({ position, percent }));
}

/** Assigns nodes that have not started to waves that have not started. `begun` nodes keep their wave. */
export function assignWaves(
  open: readonly Candidate[],
  begun: readonly { zoneId: string }[],
  waves: readonly Wave[],
): Map<string, number> {
  const plan = new Map<string, number>();
  const rest = open.toSorted(byUse);
  const count = (nodes: readonly { zoneId: string }[], zoneId: string) =>
    nodes.filter((node) => node.zoneId === zoneId).length;
  for (const { position, percent } of waves) {
    if (percent === null) {
      const first = canaryOf(rest);
      if (first) plan.set(first.nodeId, position);
      continue;
    }
    for (const zoneId of new Set(rest.map((node) => node.zoneId))) {
      const ofZone = rest.filter((node) => node.zoneId === zoneId);
      const before = count(begun, zoneId);
      const isPlaced = ({ nodeId }: Candidate) => plan.has(nodeId);
      const share = Math.ceil((percent * (ofZone.length + before)) / 100);
      const room = share - before - ofZone.filter(isPlaced).length;
      for (const { nodeId } of ofZone.filter((node) => !isPlaced(node)).slice(0, Math.max(0, room)))
        plan.set(nodeId, position);
    }
  }
  return plan;
}

const byUse = (a: Candidate, b: Candidate) =>
  Number(b.isConnected) - Number(a.isConnected) ||
  Number(b.isServing) - Number(a.isServing) ||
  Number(b.isMain) - Number(a.isMain) ||
  a.name.localeCompare(b.name) ||
  a.nodeId.localeCompare(b.nodeId);

/** From the largest zone, so that the others can take over. */
function canaryOf(sorted: readonly Candidate[]): Candidate | undefined {
  const sizes = Map.groupBy(sorted, ({ zoneId }) => zoneId);
  const sizeOf = ({ zoneId }: Candidate) => sizes.get(zoneId)?.length ?? 0;
  const [best] = sorted;
  const alike = sorted.filter(
    (node) =>
      node.isConnected === best?.isConnected && node.isServing === best.isServing && node.isMain === best.isMain,
  );
  return alike.toSorted((a, b) => sizeOf(b) - sizeOf(a))[0];
}
