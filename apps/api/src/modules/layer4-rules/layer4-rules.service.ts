// Rules of forwarded ports, at most one of each kind per port. Triggers of their tables publish the forwards.
import {
  Layer4Position,
  MAX_LAYER4_RULES,
  type Layer4LimitConn,
  type Layer4LimitConnInput,
  type Layer4PositionInput,
} from '@edgeloom/contract/layer4-rules/layer4-rules.ts';
import type { ErrorMessage } from '@edgeloom/contract/messages.ts';
import { orFail } from '../../core/conflict.ts';
import { failAt } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { rulesOf } from '../firewall/firewall-rules.service.ts';

const { blackPos, whitePos } = Layer4Position.shape;
const common = { field: 'port', limit: MAX_LAYER4_RULES };

export const positions = rulesOf<Layer4Position, Layer4PositionInput>({
  ...common,
  async read(tx, siteId) {
    const rows = await tx.layer4Position.findMany({
      where: { siteId },
      omit: { siteId: true },
      orderBy: { id: 'asc' },
    });
    const ports = await forwardedPorts(tx, { siteId });
    return rows.map((row) => ({
      ...row,
      isForwarded: ports.has(row.port),
      blackPos: blackPos.parse(row.blackPos),
      whitePos: whitePos.parse(row.whitePos),
    }));
  },
  async insert(tx, siteId, input) {
    await assertForward(tx, siteId, input.port);
    return orFail('DUPLICATED', tx.layer4Position.create({ data: { siteId, ...input } }));
  },
  async change(tx, where, input) {
    // A rule whose forward was removed can still be changed at its port.
    const rule = await tx.layer4Position.findFirst({ where, select: { port: true } });
    if (rule?.port !== input.port) await assertForward(tx, where.siteId, input.port);
    return orFail('DUPLICATED', tx.layer4Position.updateMany({ where, data: input }));
  },
  remove: (tx, siteId, ids) => tx.layer4Position.deleteMany({ where: { siteId, id: { in: ids } } }),
});

/** Connections exist with TCP only. */
export const limitConns = rulesOf<Layer4LimitConn, Layer4LimitConnInput>({
  ...common,
  async read(tx, siteId) {
    const rows = await tx.layer4LimitConn.findMany({
      where: { siteId },
      omit: { siteId: true },
      orderBy: { id: 'asc' },
    });
    const ports = await forwardedPorts(tx, { siteId, protocol: 'tcp' });
    return rows.map((row) => ({ ...row, isForwarded: ports.has(row.port) }));
  },
  async insert(tx, siteId, input) {
    await assertTcpForward(tx, siteId, input.port);
    return orFail('DUPLICATED', tx.layer4LimitConn.create({ data: { siteId, ...input } }));
  },
  async change(tx, where, input) {
    // A rule whose forward was removed can still be changed at its port, so that it can be disabled.
    const rule = await tx.layer4LimitConn.findFirst({ where, select: { port: true } });
    if (rule?.port !== input.port) await assertTcpForward(tx, where.siteId, input.port);
    return orFail('DUPLICATED', tx.layer4LimitConn.updateMany({ where, data: input }));
  },
  remove: (tx, siteId, ids) => tx.layer4LimitConn.deleteMany({ where: { siteId, id: { in: ids } } }),
});

async function forwardedPorts(tx: ScopedTx, where: { siteId: string; protocol?: 'tcp' }) {
  const forwards = await tx.portRule.findMany({ where, select: { port: true } });
  return new Set(forwards.map(({ port }) => port));
}

async function assertTcpForward(tx: ScopedTx, siteId: string, port: number) {
  const protocols = await assertForward(tx, siteId, port);
  if (!protocols.includes('tcp')) failAt('port', 'rule', 'only with TCP' satisfies ErrorMessage);
}

/** Returns the protocols with which the site forwards the port. */
async function assertForward(tx: ScopedTx, siteId: string, port: number) {
  const forwards = await tx.portRule.findMany({ where: { siteId, port }, select: { protocol: true } });
  if (forwards.length === 0) failAt('port', 'notFound', 'the site does not forward this port');
  return forwards.map(({ protocol }) => protocol);
}
