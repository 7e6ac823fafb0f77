import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';

export interface ZoneRow {
  id: string;
  ports: { port: number; tls: boolean }[];
  forceSslRedirectCode: number;
  relays: { id: string; address: string; port: number }[];
}

/** What the operator of the installation decides, not the owner of a zone. */
export interface OriginPolicy {
  deny: readonly string[];
  allow: readonly string[];
}

/** Settings that no console shows yet have their one value here. */
export const zoneDoc = (
  { id, ports, forceSslRedirectCode, relays }: ZoneRow,
  { deny, allow }: OriginPolicy,
): ZoneDoc => ({
  kind: 'zone',
  id,
  ports: ports.map(({ port, tls }) => ({ port, tls })).sort((a, b) => a.port - b.port),
  http2: true,
  http3: true,
  tlsProtocols: ['TLSv1.2', 'TLSv1.3'],
  worker: { processes: 0, connections: 16_384 },
  cache: { maxBytes: 10 * GiB, keyBytes: 64 * MiB, inactiveSeconds: 30 * 86_400 },
  maxBodyBytes: 0,
  forceSSLRedirectCode: forceSslRedirectCode,
  ...(relays.length > 0 && { relays: relays.toSorted((a, b) => byText(a.id, b.id)) }),
  originPolicy: { deny: [...deny].sort(byText), allow: [...allow].sort(byText) },
});

const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

/** By code units: the same on every machine, which a collation is not. */
const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
