import {
  AntiHeader,
  AntiReferer,
  type AntiHeaderInput,
  type AntiRefererInput,
} from '@edgeloom/contract/hotlink/hotlink.ts';
import { ruleList, type Place } from '../../core/rule-list.ts';

const LIMIT = 50;
/** One call can copy this setting to a thousand new domains. */
const MAX_BYTES = 32 * 1024;
const orderBy = [{ priority: 'asc' }, { id: 'asc' }] as const;

interface InDomain extends Place {
  domainId: string;
}

export const antiReferers = ruleList<InDomain, AntiReferer, AntiRefererInput>({
  field: 'antiReferers',
  limit: LIMIT,
  maxBytes: MAX_BYTES,
  read: async (tx, place) => {
    const omit = { siteId: true, domainId: true } as const;
    const rows = await tx.antiReferer.findMany({ where: { ...place }, omit, orderBy: [...orderBy] });
    const { type, action } = AntiReferer.shape;
    return rows.map((row) => ({ ...row, type: type.parse(row.type), action: action.parse(row.action) }));
  },
  insert: (tx, data) => tx.antiReferer.createMany({ data }),
  change: (tx, { id, ...data }) => tx.antiReferer.update({ where: { id }, data }),
  remove: (tx, place, ids) => tx.antiReferer.deleteMany({ where: { ...place, id: { in: ids } } }),
  settle: (rule) => ({ ...rule, target: rule.action === 'redirect' ? rule.target : null }),
});

export const antiHeaders = ruleList<Place, AntiHeader, AntiHeaderInput>({
  field: 'antiHeaders',
  limit: LIMIT,
  maxBytes: MAX_BYTES,
  read: async (tx, place) => {
    const omit = { siteId: true, domainId: true } as const;
    const rows = await tx.antiHeader.findMany({ where: { ...place }, omit, orderBy: [...orderBy] });
    const { operator, action } = AntiHeader.shape;
    return rows.map((row) => ({ ...row, operator: operator.parse(row.operator), action: action.parse(row.action) }));
  },
  insert: (tx, data) => tx.antiHeader.createMany({ data }),
  change: (tx, { id, ...data }) => tx.antiHeader.update({ where: { id }, data }),
  remove: (tx, place, ids) => tx.antiHeader.deleteMany({ where: { ...place, id: { in: ids } } }),
  settle: (rule) => rule,
});
