import type { Compression } from '@edgeloom/contract/compression/compression.ts';
import { needsOf } from '@edgeloom/contract/edge/documents.ts';
import type { SiteDoc } from '@edgeloom/contract/edge/documents.ts';

export interface SiteRow {
  id: string;
  status: SiteDoc['status'];
  cacheVersion: number;
  maskLogAddress: boolean;
  maskLogQuery: boolean;
  /** The zone's ports that the site uses, besides 80 and 443. */
  ports: number[];
  /** 0: unlimited. */
  maxConnections: number;
  responseMbps: number;
  /** Null: the product's default. */
  cacheSetting: CacheSettingRow | null;
  compression: Compression | null;
  /** The rule lists as they appear in the document. */
  rules: Partial<SiteDoc>;
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

export const siteDoc = ({
  id,
  status,
  cacheVersion,
  maskLogAddress,
  maskLogQuery,
  ports,
  maxConnections,
  responseMbps,
  cacheSetting,
  compression,
  rules,
}: SiteRow): SiteDoc => ({
  kind: 'site',
  id,
  status,
  cacheVersion,
  ports: [...ports].sort((a, b) => a - b),
  cacheRules: [],
  staleIfError: cacheSetting?.staleIfError ?? STALE_IF_ERROR_SECONDS,
  ...(cacheSetting && cacheSettingDocs(cacheSetting)),
  ...(compression && compressionDocs(compression)),
  ...rules,
  ...(maxConnections > 0 && { maxConnections }),
  ...(responseMbps > 0 && { responseRate: responseMbps * BYTES_PER_MEGABIT }),
  ...((maskLogAddress || maskLogQuery) && {
    logMask: maskLogAddress && maskLogQuery ? 'both' : maskLogAddress ? 'address' : 'query',
  }),
  ...needsOf(rules),
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

const BYTES_PER_MEGABIT = 125_000;

/** The default for sites without a setting. */
const STALE_IF_ERROR_SECONDS = 3600;

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
