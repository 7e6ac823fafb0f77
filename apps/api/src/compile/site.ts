import type { Compression } from '@edgeloom/contract/compression/compression.ts';
import { needsOf } from '@edgeloom/contract/edge/documents.ts';
import type { CacheRuleDoc, SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import { errorPageDocs, type ErrorPageRow } from './error-pages.ts';
import { antiHeaderDocs, type AntiHeaderRow } from './hotlink.ts';
import { rateDocs, type RateRow } from './rates.ts';

export interface SiteRow {
  id: string;
  status: SiteDoc['status'];
  cacheVersion: number;
  /** The zone's ports that the site uses, besides 80 and 443. */
  ports: number[];
  cacheRules: CacheRuleRow[];
  /** Null: the product's default. */
  cacheSetting: CacheSettingRow | null;
  compression: Compression | null;
  antiHeaders: AntiHeaderRow[];
  rates: RateRow[];
  errorPages: ErrorPageRow[];
}

export interface CacheSettingRow {
  heuristics: boolean;
  staleIfError: number;
  shield: boolean;
  checkContentType: boolean;
  passHeaders: string[];
  setCookie: 'refuse' | 'strip' | 'keep';
  honourVisitors: boolean;
  storePost: boolean;
}

export interface CacheRuleRow {
  id: string;
  type: CacheRuleDoc['type'];
  value: string[];
  cacheTime: number;
  honourOrigin: boolean;
  minTime: number | null;
  maxTime: number | null;
  browserTime: number | null;
  staleWhileRevalidate: number | null;
  staleIfError: number | null;
  query: CacheRuleDoc['query'];
  queryNames: string[];
  cookies: 'none' | 'all' | 'listed';
  cookieNames: string[];
  passCookies: string[];
  stripCookies: boolean;
  slices: boolean;
  overrideOrigin: boolean;
  priority: number;
  enabled: boolean;
  /** Text that sorts by time. */
  createdAt: string;
}

export const siteDoc = ({
  id,
  status,
  cacheVersion,
  ports,
  cacheRules,
  cacheSetting,
  compression,
  antiHeaders,
  rates,
  errorPages,
}: SiteRow): SiteDoc => ({
  kind: 'site',
  id,
  status,
  cacheVersion,
  ports: [...ports].sort((a, b) => a - b),
  cacheRules: cacheRules
    .filter((rule) => rule.enabled)
    .sort(inOrder)
    .map(ruleDoc),
  staleIfError: cacheSetting?.staleIfError ?? STALE_IF_ERROR_SECONDS,
  ...(cacheSetting && cacheSettingDocs(cacheSetting)),
  ...(compression && compressionDocs(compression)),
  ...antiHeaderDocs(antiHeaders),
  ...needsOf(antiHeaderDocs(antiHeaders)),
  ...rateDocs(rates),
  ...errorPageDocs(errorPages),
});

const cacheSettingDocs = ({ passHeaders, setCookie, ...setting }: CacheSettingRow): Partial<SiteDoc> => ({
  ...(setting.heuristics && { heuristics: true }),
  ...(setting.shield && { shield: true }),
  ...(!setting.checkContentType && { checkContentType: false }),
  ...(passHeaders.length > 0 && { passHeaders: [...new Set(passHeaders)].sort() }),
  ...(setCookie !== 'refuse' && { setCookie }),
  ...(setting.honourVisitors && { honourVisitors: true }),
  ...(setting.storePost && { storePost: true }),
});

/** The default for sites without a setting. */
const STALE_IF_ERROR_SECONDS = 3600;

/** Unset options are omitted, since most rules have few. */
const ruleDoc = (rule: CacheRuleRow): CacheRuleDoc => ({
  id: rule.id,
  type: rule.type,
  value: rule.value,
  cacheTime: rule.cacheTime,
  honourOrigin: rule.honourOrigin,
  query: rule.query,
  queryNames: rule.queryNames,
  ...(rule.minTime !== null && { minTime: rule.minTime }),
  ...(rule.maxTime !== null && { maxTime: rule.maxTime }),
  ...(rule.browserTime !== null && { browserTime: rule.browserTime }),
  ...(rule.staleWhileRevalidate !== null && { staleWhileRevalidate: rule.staleWhileRevalidate }),
  ...(rule.staleIfError !== null && { staleIfError: rule.staleIfError }),
  ...(rule.cookies !== 'none' && { cookies: rule.cookies, cookieNames: rule.cookieNames }),
  ...(rule.passCookies.length > 0 && { passCookies: rule.passCookies }),
  ...(rule.stripCookies && { stripCookies: true }),
  ...(rule.slices && { slices: true }),
  ...(rule.overrideOrigin && { overrideOrigin: true }),
});

const compressionDocs = ({
  gzip,
  brotli,
  types,
  minBytes,
  webp,
  ...image
}: Compression): Pick<SiteDoc, 'compression' | 'webp'> => ({
  ...((gzip || brotli) && { compression: { gzip, brotli, types, minBytes } }),
  ...(webp && {
    webp: {
      quality: image.webpQuality,
      types: image.webpTypes,
      minBytes: image.webpMinBytes,
      maxBytes: image.webpMaxBytes,
    },
  }),
});

/** By priority, then by age, as consoles list them. */
function inOrder(a: CacheRuleRow, b: CacheRuleRow): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
