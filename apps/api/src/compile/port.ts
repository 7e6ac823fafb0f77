import type { PortDoc } from '@edgeloom/contract/edge/documents.ts';

export interface PortRow extends Omit<PortDoc, 'kind' | 'siteID' | 'upstreams'> {
  siteId: string;
  upstreams: (PortDoc['upstreams'][number] & { enabled: boolean })[];
}

/** Null when no origin is left. */
export function portDoc({ siteId, upstreams, ...row }: PortRow): PortDoc | null {
  const enabled = upstreams.filter((upstream) => upstream.enabled).sort((a, b) => (a.id < b.id ? -1 : 1));
  if (enabled.length === 0) return null;
  return {
    kind: 'port',
    id: row.id,
    siteID: siteId,
    port: row.port,
    protocol: row.protocol,
    acceptProxy: row.acceptProxy,
    sendProxy: row.sendProxy,
    method: row.method,
    maxFails: row.maxFails,
    failTimeoutSeconds: row.failTimeoutSeconds,
    connectTimeoutSeconds: row.connectTimeoutSeconds,
    idleTimeoutSeconds: row.idleTimeoutSeconds,
    upstreams: enabled.map(({ id, address, port, weight, backup }) => ({ id, address, port, weight, backup })),
  };
}
