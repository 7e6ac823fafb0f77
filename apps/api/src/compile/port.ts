import { rangeOf, type AddressRange } from '@edgeloom/contract/common/address-ranges.ts';
import type { PortDoc } from '@edgeloom/contract/edge/documents.ts';

export interface PortRow extends Omit<PortDoc, 'kind' | 'siteID' | 'upstreams' | 'maskAddress' | 'limitConn'> {
  /** Entries of the site's enabled lists. */
  allow: string[];
  deny: string[];
  /** The black lists come first, so the white lists exempt nobody. */
  denyFirst: boolean;
  /** Connections of one visitor, with the burst. Null without a limit. */
  maxConns: number | null;
  maskLogAddress: boolean;
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
    ...(row.maskLogAddress && { maskAddress: true }),
    ...(row.allow.length > 0 && !row.denyFirst && { allow: networksOf(row.allow) }),
    ...(row.deny.length > 0 && { deny: networksOf(row.deny) }),
    ...(row.maxConns !== null && row.protocol === 'tcp' && { limitConn: row.maxConns }),
    upstreams: enabled.map(({ id, address, port, weight, backup }) => ({ id, address, port, weight, backup })),
  };
}

/** Entries of lists as networks, since nginx knows no ranges. */
const networksOf = (entries: readonly string[]) =>
  entries.flatMap((entry) => {
    const range = rangeOf(entry);
    return range ? [...networksIn(range)] : [];
  });

function* networksIn({ family, first, last }: AddressRange): Generator<string> {
  const bits = family === 4 ? 32 : 128;
  for (let at = first; at <= last;) {
    let prefix = bits;
    const size = () => 1n << BigInt(bits - prefix + 1);
    while (prefix > 0 && at % size() === 0n && at + size() - 1n <= last) prefix -= 1;
    yield `${addressOf(family, at)}/${prefix}`;
    at += 1n << BigInt(bits - prefix);
  }
}

function addressOf(family: 4 | 6, value: bigint): string {
  const [count, width] = family === 4 ? [4, 8] : [8, 16];
  const parts = Array.from({ length: count }, (_, i) =>
    BigInt.asUintN(width, value >> BigInt(width * (count - 1 - i))).toString(family === 4 ? 10 : 16),
  );
  return parts.join(family === 4 ? '.' : ':');
}
