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
    return rows.map((row) => ({
      ...row,
      blackPos: blackPos.parse(row.blackPos),
      whitePos: whitePos.parse(row.whitePos),
    }));
  },
  async insert(tx, siteId, input) {
    await assertForward(tx, siteId, input.port);
    return orFail('DUPLICATED', tx.layer4Position.create({ data: { siteId, ...input } }));
  },
  async change(tx, where, input) {
    await assertForward(tx, where.siteId, input.port);
    return orFail('DUPLICATED', tx.layer4Position.updateMany({ where, data: input }));
  },
  remove: (tx, siteId, ids) => tx.layer4Position.deleteMany({ where: { siteId, id: { in: ids } } }),
});

/** Connections exist with TCP only. */
export const limitConns = rulesOf<Layer4LimitConn, Layer4LimitConnInput>({
  ...common,
  read: (tx, siteId) =>
    tx.layer4LimitConn.findMany({ where: { siteId }, omit: { siteId: true }, orderBy: { id: 'asc' } }),
  async insert(tx, siteId, input) {
    await assertTcpForward(tx, siteId, input.port);
    return orFail('DUPLICATED', tx.layer4LimitConn.create({ data: { siteId, ...input } }));
  },
  async change(tx, where, input) {
    await assertTcpForward(tx, where.siteId, input.port);
    return orFail('DUPLICATED', tx.layer4LimitConn.updateMany({ where, data: input }));
  },
  remove: (tx, siteId, ids) => tx.layer4LimitConn.deleteMany({ where: { siteId, id: { in: ids } } }),
});

async function assertTcpForward(tx: ScopedTx, siteId: string, port: number) {
  await assertForward(tx, siteId, port);
  if ((await tx.portRule.count({ where: { siteId, port, protocol: 'tcp' } })) === 0)
    failAt('port', 'rule', 'only with TCP' satisfies ErrorMessage);
}

async function assertForward(tx: ScopedTx, siteId: string, port: number) {
  if ((await tx.portRule.count({ where: { siteId, port } })) === 0)
    failAt('port', 'notFound', 'the site does not forward this port');
}
