// Forwards of ports are on nodes that serve layer 4, and on no others: a group whose sites forward ports keeps one.
import { fail, faultsByReason } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';

/** Of somebody else's addresses nobody knows what they serve. */
const forwards = { OR: [{ virtualNodeId: { not: null } }, { node: { portType: { not: '7' } } }] };

/** What a change of these groups' nodes may not take from them: asked before it is made, and judged after. */
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
