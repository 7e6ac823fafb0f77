// Port forwards run only on nodes of layer 4: a group whose sites forward ports must keep at least one such node.
import { fail, faultsByReason } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';

/** Virtual nodes are assumed to support layer 4, since their capabilities are unknown. */
const forwards = { OR: [{ virtualNodeId: { not: null } }, { node: { portType: { not: '7' } } }] };

/** Runs a change of these groups' nodes and fails if a group with port forwards would lose its last layer 4 node. */
export async function keepingLayer4(
  tx: ScopedTx,
  groupIds: string[],
  reason: 'LAYER_4_GROUP_IN_USE' | 'PORT_TYPE_4_IN_USE' = 'LAYER_4_GROUP_IN_USE',
): Promise<() => Promise<void>> {
  const sites = { some: { portRules: { some: { enabled: true } } } };
  const before = await tx.group.findMany({
    where: { id: { in: groupIds }, sites, members: { some: forwards } },
    select: { id: true },
  });
  return async () => {
    const where = { id: { in: before.map(({ id }) => id) }, members: { none: forwards } };
    const lost = await tx.group.findMany({ where, select: { name: true } });
    const faults = lost.map(({ name }) => ({ reason, target: name }));
    if (faults.length > 0) fail(reason, { errorData: faultsByReason(faults) });
  };
}
