import type { CacheRuleDoc, SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import { antiHeaderDocs, type AntiHeaderRow } from './hotlink.ts';

export interface SiteRow {
  id: string;
  status: SiteDoc['status'];
  cacheVersion: number;
  /** Of its zone's, besides 80 and 443. */
  ports: number[];
  cacheRules: CacheRuleRow[];
  antiHeaders: AntiHeaderRow[];
}

export interface CacheRuleRow {
  id: string;
  type: CacheRuleDoc['type'];
  value: string[];
  cacheTime: number;
  honourOrigin: boolean;
  query: CacheRuleDoc['query'];
  queryNames: string[];
  priority: number;
  enabled: boolean;
  /** As text that sorts by time. */
  createdAt: string;
}

export const siteDoc = ({ id, status, cacheVersion, ports, cacheRules, antiHeaders }: SiteRow): SiteDoc => ({
  kind: 'site',
  id,
  status,
  cacheVersion,
  ports: [...ports].sort((a, b) => a - b),
  cacheRules: cacheRules
    .filter((rule) => rule.enabled)
    .sort(inOrder)
    .map((rule) => ({
      id: rule.id,
      type: rule.type,
      values: rule.value,
      ttlSeconds: rule.cacheTime,
      honourOrigin: rule.honourOrigin,
      query: rule.query,
      queryNames: rule.queryNames,
    })),
  staleIfErrorSeconds: 3600,
  ...antiHeaderDocs(antiHeaders),
});

/** As consoles list them: by priority, of equal ones the older first. */
function inOrder(a: CacheRuleRow, b: CacheRuleRow): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
