import {
  AbuseIPInput,
  AddressListInput,
  FirewallAdvanceInput,
  GeoRuleInput,
  UserAgentInput,
} from '@edgeloom/contract/firewall/firewall.ts';
import * as z from 'zod';
import { geoDocs, listRefDocs, userAgentDocs } from '../../compile/firewall.ts';
import { failAt } from '../../core/fail.ts';
import { copiesOf, type SiteRuleFeature } from '../../core/site-rule.ts';
import { sql } from '../../core/sql.ts';
import { readAbuseIP, readStoredAdvance } from './firewall.service.ts';
import { geoRules, userAgentRules } from './firewall-rules.service.ts';
import { readSummaries } from './address-lists.service.ts';

/** Entries that one call may copy. */
const MAX_COPIED = 500_000;

const Lists = z.array(
  z.object({
    id: z.string(),
    isBlack: z.boolean(),
    urls: z.array(z.string()),
    methods: z.array(z.string()),
    monitor: z.boolean(),
  }),
);
const Reactions = z.array(
  z.object({
    id: z.string(),
    urlRegex: z.string(),
    blockType: z.int(),
    monitor: z.boolean(),
    value: z.array(z.string()),
    isBlack: z.boolean().default(true),
  }),
);

export const firewallListsFeature: SiteRuleFeature = {
  name: 'firewallLists',
  area: 'firewall',
  table: 'firewall_lists',
  input: AddressListInput,
  // Subscribed lists are lists of all URLs and methods. Only black ones can monitor.
  rows: sql`SELECT r.id, r.is_black AS "isBlack", r.urls, r.methods, r.monitor FROM firewall_lists r
    WHERE r.site_id = s.id AND r.enabled
    UNION ALL SELECT c.id, r.is_black, '{}', '{}', r.monitor AND r.is_black FROM list_source_chunks c
    JOIN list_sources r ON r.id = c.source_id WHERE c.site_id = s.id AND r.enabled ORDER BY 2, 1`,
  document: (rows) => listRefDocs(Lists.parse(rows)),
  settings: async (ctx, siteId) => ({ firewallLists: await readSummaries(ctx, siteId) }),
  async copy(tx, siteId, targets) {
    const rows = await tx.firewallList.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
    const entries = rows.reduce((sum, { value }) => sum + value.length, 0);
    if (entries * targets.length > MAX_COPIED) failAt('siteIDs', 'range', `at most ${MAX_COPIED} entries`);
    await tx.firewallList.deleteMany({ where: { siteId: { in: [...targets] } } });
    const copies = copiesOf(rows, targets).map((row) => ({ ...row, expires: row.expires ?? [] }));
    await tx.firewallList.createMany({ data: copies });
  },
  ruleKind: 'blacklist',
  async ruleNames(db, ids) {
    const where = { id: { in: ids } };
    const rows = await db.firewallList.findMany({ where });
    const chunks = await db.listSourceChunk.findMany({
      where,
      select: { id: true, source: { select: { name: true } } },
    });
    return [
      ...rows.map(({ id, memo, value }) => ({ id, name: memo || value.slice(0, 3).join(', ') })),
      ...chunks.map(({ id, source }) => ({ id, name: source.name })),
    ];
  },
};

export const abuseIPsFeature: SiteRuleFeature = {
  name: 'abuseIPs',
  area: 'firewall',
  table: 'abuse_ips',
  input: AbuseIPInput,
  rows: sql`SELECT r.id, r.score, r.monitor FROM abuse_ips r WHERE r.site_id = s.id AND r.enabled`,
  document: ([row]) => ({
    abuseIP: z.object({ id: z.string(), score: z.int(), monitor: z.boolean() }).parse(row),
  }),
  settings: async (ctx, siteId) => {
    const { enabled, ...found } = await readAbuseIP(ctx, siteId);
    return { abuseIPs: enabled ? [{ enabled, ...found }] : [] };
  },
  async copy(tx, siteId, targets) {
    const rows = await tx.abuseIp.findMany({ where: { siteId } });
    await tx.abuseIp.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.abuseIp.createMany({ data: copiesOf(rows, targets) });
  },
  ruleKind: 'abuseIP',
};

export const firewallAdvancesFeature: SiteRuleFeature = {
  name: 'firewallAdvances',
  area: 'firewall',
  table: 'firewall_advances',
  input: FirewallAdvanceInput,
  rows: sql`SELECT r.id FROM firewall_advances r WHERE r.site_id = s.id`,
  // Nodes ignore the setting.
  document: () => ({}),
  settings: async (ctx, siteId) => {
    const stored = await readStoredAdvance(ctx, siteId);
    return { firewallAdvances: stored ? [stored] : [] };
  },
  async copy(tx, siteId, targets) {
    const rows = await tx.firewallAdvance.findMany({ where: { siteId } });
    await tx.firewallAdvance.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.firewallAdvance.createMany({ data: copiesOf(rows, targets) });
  },
  ruleKind: 'firewallAdvance',
};

export const geosFeature: SiteRuleFeature = {
  name: 'geos',
  area: 'firewall',
  table: 'firewall_geos',
  input: GeoRuleInput,
  rows: sql`SELECT r.id, r.is_black AS "isBlack", r.value, r.url_regex AS "urlRegex", r.block_type AS "blockType", r.monitor
    FROM firewall_geos r WHERE r.site_id = s.id AND r.enabled ORDER BY r.id`,
  document: (rows) => geoDocs(Reactions.parse(rows)),
  settings: async (ctx, siteId) => ({ geos: await geoRules.all(ctx, siteId) }),
  async copy(tx, siteId, targets) {
    const rows = await tx.firewallGeo.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
    await tx.firewallGeo.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.firewallGeo.createMany({ data: copiesOf(rows, targets) });
  },
  ruleKind: 'geo',
  async ruleNames(db, ids) {
    const rows = await db.firewallGeo.findMany({ where: { id: { in: ids } } });
    return rows.map(({ id, value }) => ({ id, name: value.slice(0, 3).join(', ') }));
  },
};

export const userAgentsFeature: SiteRuleFeature = {
  name: 'userAgents',
  area: 'firewall',
  table: 'user_agent_rules',
  input: UserAgentInput,
  rows: sql`SELECT r.id, r.value, r.url_regex AS "urlRegex", r.block_type AS "blockType", r.monitor
    FROM user_agent_rules r WHERE r.site_id = s.id AND r.enabled ORDER BY r.id`,
  document: (rows) => userAgentDocs(Reactions.parse(rows)),
  settings: async (ctx, siteId) => ({ userAgents: await userAgentRules.all(ctx, siteId) }),
  async copy(tx, siteId, targets) {
    const rows = await tx.userAgentRule.findMany({ where: { siteId }, orderBy: { id: 'asc' } });
    await tx.userAgentRule.deleteMany({ where: { siteId: { in: [...targets] } } });
    await tx.userAgentRule.createMany({ data: copiesOf(rows, targets) });
  },
  ruleKind: 'userAgent',
  async ruleNames(db, ids) {
    const rows = await db.userAgentRule.findMany({ where: { id: { in: ids } } });
    return rows.map(({ id, value }) => ({ id, name: value[0] ?? '' }));
  },
};
