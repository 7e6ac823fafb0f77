import { FrequencyInput, LimitConnInput, LimitReqInput } from '@edgeloom/contract/limits/limits.ts';
import { onSite } from '../../core/rule-list.ts';
import { copiesOf, type SiteRuleFeature } from '../../core/site-rule.ts';
import { sql } from '../../core/sql.ts';
import { frequencies, limitConns, limitReqs } from './limits.service.ts';

export const frequenciesFeature: SiteRuleFeature = {
  name: 'frequencies',
  area: 'firewall',
  table: 'frequencies',
  input: FrequencyInput,
  rows: sql`SELECT r.id, r.url_regex AS "urlRegex", r.type, r.header, r.status, r.monitor, r.seconds, r.times
    FROM frequencies r WHERE r.site_id = s.id AND r.enabled ORDER BY r.priority, r.id`,
  settings: async (ctx, siteId) => ({ frequencies: (await frequencies.list(ctx, onSite({ siteId }))).data }),
  async copy(tx, siteId, targets) {
    const rows = await tx.frequency.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
    await tx.frequency.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.frequency.createMany({ data: copiesOf(rows, targets) });
  },
  ruleKind: 'frequency',
  async ruleNames(db, ids) {
    const rows = await db.frequency.findMany({ where: { id: { in: ids } } });
    return rows.map(({ id, times, seconds, urlRegex }) => ({ id, name: `${times} / ${seconds} s ${urlRegex}`.trim() }));
  },
};

export const limitReqsFeature: SiteRuleFeature = {
  name: 'limitReqs',
  area: 'firewall',
  table: 'limit_reqs',
  input: LimitReqInput,
  rows: sql`SELECT r.id, r.url_regex AS "urlRegex", r.type, r.header, r.status, r.monitor, r.rate, r.burst, r.queue
    FROM limit_reqs r WHERE r.site_id = s.id AND r.enabled ORDER BY r.priority, r.id`,
  settings: async (ctx, siteId) => ({ limitReqs: (await limitReqs.list(ctx, onSite({ siteId }))).data }),
  async copy(tx, siteId, targets) {
    const rows = await tx.limitReq.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
    await tx.limitReq.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.limitReq.createMany({ data: copiesOf(rows, targets) });
  },
  ruleKind: 'limitReq',
  async ruleNames(db, ids) {
    const rows = await db.limitReq.findMany({ where: { id: { in: ids } } });
    return rows.map(({ id, rate, urlRegex }) => ({ id, name: `${rate}/s ${urlRegex}`.trim() }));
  },
};

export const limitConnsFeature: SiteRuleFeature = {
  name: 'limitConns',
  area: 'firewall',
  table: 'limit_conns',
  input: LimitConnInput,
  rows: sql`SELECT r.id, r.url_regex AS "urlRegex", r.type, r.header, r.status, r.monitor, r.max
    FROM limit_conns r WHERE r.site_id = s.id AND r.enabled ORDER BY r.priority, r.id`,
  settings: async (ctx, siteId) => ({ limitConns: (await limitConns.list(ctx, onSite({ siteId }))).data }),
  async copy(tx, siteId, targets) {
    const rows = await tx.limitConn.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
    await tx.limitConn.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.limitConn.createMany({ data: copiesOf(rows, targets) });
  },
  ruleKind: 'limitConn',
  async ruleNames(db, ids) {
    const rows = await db.limitConn.findMany({ where: { id: { in: ids } } });
    return rows.map(({ id, max, urlRegex }) => ({ id, name: `${max} ${urlRegex}`.trim() }));
  },
};
