import type { HealthCheck } from '@edgeloom/contract/domains/domains.ts';
import { needsOf } from '@edgeloom/contract/edge/documents.ts';
import type { HostDoc } from '@edgeloom/contract/edge/documents.ts';
import { HostModules } from '@edgeloom/contract/edge/module-doc.ts';
import { antiHeaderDocs, antiRefererDocs, type AntiHeaderRow, type AntiRefererRow } from './hotlink.ts';

export interface HostRow {
  name: string;
  domainId: string;
  siteId: string;
  cacheVersion: number;
  certificateId: string | null;
  scheme: HostDoc['origin']['scheme'];
  portMap: HostDoc['origin']['portMap'];
  hashType: HostDoc['origin']['method'];
  hostReplace: string | null;
  sni: string | null;
  originVerify: boolean;
  originCertificateId: string | null;
  slowStartSeconds: number;
  healthCheck: HealthCheck | null;
  forceSsl: boolean;
  minTls: 'TLSv1.2' | 'TLSv1.3';
  hstsMaxAgeSeconds: number | null;
  hstsIncludeSubdomains: boolean;
  hstsPreload: boolean;
  maxFails: number;
  failTimeoutSeconds: number;
  connectTimeoutSeconds: number;
  readTimeoutSeconds: number;
  websocketTimeoutSeconds: number;
  upstreams: UpstreamRow[];
  antiReferers: AntiRefererRow[];
  antiHeaders: AntiHeaderRow[];
  /** The host's module of each kind. Null: none. */
  modules: Record<string, string> | null;
}

export interface UpstreamRow {
  id: string;
  address: string;
  port: number;
  weight: number;
  backup: boolean;
  enabled: boolean;
}

/** A name without origins has no document. Unknown is better than serving from a disabled origin. */
export function hostDoc(row: HostRow): HostDoc | null {
  const upstreams = row.upstreams
    .filter((upstream) => upstream.enabled)
    .map(({ id, address, port, weight, backup }) => ({ id, address, port, weight, backup }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  if (upstreams.length === 0) return null;
  const guards = {
    ...antiRefererDocs(row.antiReferers),
    ...antiHeaderDocs(row.antiHeaders),
    ...(row.modules && { modules: HostModules.parse(row.modules) }),
  };
  return {
    kind: 'host',
    name: row.name,
    domainID: row.domainId,
    siteID: row.siteId,
    cacheVersion: row.cacheVersion,
    certID: row.certificateId,
    https: { ...httpsOf(row), minTLS: row.minTls },
    ...guards,
    ...needsOf(guards),
    origin: {
      scheme: row.scheme,
      portMap: row.portMap.map(({ from, to }) => ({ from, to })).sort((a, b) => a.from - b.from),
      host: row.hostReplace,
      sni: row.sni,
      verify: row.originVerify,
      ...(row.originCertificateId && { certID: row.originCertificateId }),
      slowStartSeconds: row.slowStartSeconds,
      ...(row.healthCheck && { health: healthOf(row.healthCheck, row) }),
      method: row.hashType,
      maxFails: row.maxFails,
      failTimeoutSeconds: row.failTimeoutSeconds,
      connectTimeoutSeconds: row.connectTimeoutSeconds,
      readTimeoutSeconds: row.readTimeoutSeconds,
      websocketTimeoutSeconds: row.websocketTimeoutSeconds,
      upstreams,
    },
  };
}

const NO_SITE = '00000000-0000-0000-0000-000000000000';

/**
 * The document of a disabled name. Nodes of all versions answer 903 when the site does not exist, and try no wildcard.
 * It contains no domain or origin data: the zone may belong to another operator.
 */
export const offDoc = (name: string): HostDoc => ({
  kind: 'host',
  name,
  domainID: NO_SITE,
  siteID: NO_SITE,
  cacheVersion: 0,
  certID: null,
  https: { force: false, hsts: null, minTLS: 'TLSv1.2' },
  origin: {
    scheme: 'http',
    portMap: [],
    host: null,
    sni: null,
    method: 'roundRobin',
    maxFails: 0,
    failTimeoutSeconds: 1,
    connectTimeoutSeconds: 1,
    readTimeoutSeconds: 1,
    // Required by the schema. No request reaches it.
    upstreams: [{ id: NO_SITE, address: '192.0.2.1', port: 80, weight: 1, backup: false }],
  },
});

/** Without a certificate, visitors who are redirected to HTTPS could not connect. */
const httpsOf = (row: HostRow): Pick<NonNullable<HostDoc['https']>, 'force' | 'hsts'> =>
  row.certificateId === null ? { force: false, hsts: null } : { force: row.forceSsl, hsts: hstsOf(row) };

const hstsOf = ({ hstsMaxAgeSeconds, hstsIncludeSubdomains, hstsPreload }: HostRow): string | null =>
  hstsMaxAgeSeconds === null
    ? null
    : `max-age=${hstsMaxAgeSeconds}${hstsIncludeSubdomains ? '; includeSubDomains' : ''}${hstsPreload ? '; preload' : ''}`;

const healthOf = (
  { path, host, intervalSeconds, timeoutSeconds, statusFrom, statusTo, fails, passes }: HealthCheck,
  { name, hostReplace }: HostRow,
): NonNullable<HostDoc['origin']['health']> => ({
  path,
  // A wildcard is no valid Host.
  host: host ?? hostReplace ?? name.replace(/^\*\./, ''),
  intervalSeconds,
  timeoutSeconds,
  statusFrom,
  statusTo,
  fails,
  passes,
});
