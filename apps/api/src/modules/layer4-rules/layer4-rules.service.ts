// Rules of ports that a site forwards: at most one of each kind per port. When a rule changes, a trigger of its table
// publishes the forward.
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

/** Which of the site's lists comes first at a port. */
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
    await requireForward(tx, siteId, input.port);
    return orFail('DUPLICATED', tx.layer4Position.create({ data: { siteId, ...input } }));
  },
  async change(tx, where, input) {
    const rule = await tx.layer4Position.findFirst({ where, select: { port: true } });
    if (isMoved(rule, input)) await requireForward(tx, where.siteId, input.port);
    return orFail('DUPLICATED', tx.layer4Position.updateMany({ where, data: input }));
  },
  remove: (tx, siteId, ids) => tx.layer4Position.deleteMany({ where: { siteId, id: { in: ids } } }),
});

/** Limits of TCP connections. UDP has none. */
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
    await requireTcpForward(tx, siteId, input.port);
    return orFail('DUPLICATED', tx.layer4LimitConn.create({ data: { siteId, ...input } }));
  },
  async change(tx, where, input) {
    const rule = await tx.layer4LimitConn.findFirst({ where, select: { port: true } });
    if (isMoved(rule, input)) await requireTcpForward(tx, where.siteId, input.port);
    return orFail('DUPLICATED', tx.layer4LimitConn.updateMany({ where, data: input }));
  },
  remove: (tx, siteId, ids) => tx.layer4LimitConn.deleteMany({ where: { siteId, id: { in: ids } } }),
});

/** Only a new port must be forwarded: a rule stays when its forward is removed, and can then still be disabled. */
const isMoved = (rule: { port: number } | null, input: { port: number }) => rule?.port !== input.port;

async function forwardedPorts(tx: ScopedTx, where: { siteId: string; protocol?: 'tcp' }) {
  const forwards = await tx.portRule.findMany({ where, select: { port: true } });
  return new Set(forwards.map(({ port }) => port));
}

async function requireTcpForward(tx: ScopedTx, siteId: string, port: number) {
  const protocols = await requireForward(tx, siteId, port);
  if (!protocols.includes('tcp')) failAt('port', 'rule', 'only with TCP' satisfies ErrorMessage);
}

/** Fails if the site does not forward the port. Returns the protocols of its forwards. */
async function requireForward(tx: ScopedTx, siteId: string, port: number) {
  const forwards = await tx.portRule.findMany({ where: { siteId, port }, select: { protocol: true } });
  if (forwards.length === 0) failAt('port', 'notFound', 'the site does not forward this port');
  return forwards.map(({ protocol }) => protocol);
}
