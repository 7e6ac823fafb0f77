import {
  Frequency,
  LimitConn,
  type FrequencyInput,
  type LimitConnInput,
  type LimitReq,
  type LimitReqInput,
} from '@edgeloom/contract/limits/limits.ts';
import { ruleList, type OnSite } from '../../core/rule-list.ts';

const LIMIT = 50;
const MAX_BYTES = 32 * 1024;
const orderBy = [{ priority: 'asc' }, { id: 'asc' }] as const;
const { type, status } = Frequency.shape;
const typed = <Row extends { type: number; status: number }>(row: Row) => ({
  ...row,
  type: type.parse(row.type),
  status: status.parse(row.status),
});

export const frequencies = ruleList<OnSite, Frequency, FrequencyInput>({
  field: 'items',
  limit: LIMIT,
  maxBytes: MAX_BYTES,
  read: async (tx, { siteId }) => {
    const rows = await tx.frequency.findMany({ where: { siteId }, omit: { siteId: true }, orderBy: [...orderBy] });
    return rows.map(typed);
  },
  insert: (tx, rows) => tx.frequency.createMany({ data: rows.map(({ domainId: _, ...data }) => data) }),
  change: (tx, { id, ...data }) => tx.frequency.update({ where: { id }, data }),
  remove: (tx, { siteId }, ids) => tx.frequency.deleteMany({ where: { siteId, id: { in: ids } } }),
  settle: (rule) => rule,
});

export const limitReqs = ruleList<OnSite, LimitReq, LimitReqInput>({
  field: 'items',
  limit: LIMIT,
  maxBytes: MAX_BYTES,
  read: async (tx, { siteId }) => {
    const rows = await tx.limitReq.findMany({ where: { siteId }, omit: { siteId: true }, orderBy: [...orderBy] });
    return rows.map(typed);
  },
  insert: (tx, rows) => tx.limitReq.createMany({ data: rows.map(({ domainId: _, ...data }) => data) }),
  change: (tx, { id, ...data }) => tx.limitReq.update({ where: { id }, data }),
  remove: (tx, { siteId }, ids) => tx.limitReq.deleteMany({ where: { siteId, id: { in: ids } } }),
  settle: (rule) => rule,
});

export const limitConns = ruleList<OnSite, LimitConn, LimitConnInput>({
  field: 'items',
  limit: LIMIT,
  maxBytes: MAX_BYTES,
  read: async (tx, { siteId }) => {
    const rows = await tx.limitConn.findMany({ where: { siteId }, omit: { siteId: true }, orderBy: [...orderBy] });
    return rows.map((row) => ({ ...typed(row), type: LimitConn.shape.type.parse(row.type) }));
  },
  insert: (tx, rows) => tx.limitConn.createMany({ data: rows.map(({ domainId: _, ...data }) => data) }),
  change: (tx, { id, ...data }) => tx.limitConn.update({ where: { id }, data }),
  remove: (tx, { siteId }, ids) => tx.limitConn.deleteMany({ where: { siteId, id: { in: ids } } }),
  settle: (rule) => rule,
});
