// A virtual node in the list of nodes: an address in DNS without an agent, so without version and load.
import type { EdgeNode } from '@edgeloom/contract/nodes/nodes.ts';
import type { Prisma } from '../../generated/client.ts';
import { inForcedGroup } from './node-row.ts';

export const virtualInclude = {
  zone: { select: { name: true, revision: true } },
  records: { select: { ip: true, cname: true, disabled: true, node: { select: { ip: true } } } },
  _count: { select: { members: { where: inForcedGroup } } },
} satisfies Prisma.VirtualNodeInclude;
type Row = Prisma.VirtualNodeGetPayload<{ include: typeof virtualInclude }>;

export function virtualNodeOf(row: Row): EdgeNode {
  const answered = row.records.filter(({ disabled }) => !disabled);
  const [first] = answered;
  return {
    id: row.id,
    name: row.name,
    ip: first?.ip ?? first?.node?.ip ?? first?.cname ?? '',
    zoneID: row.zoneId,
    zoneName: row.zone.name,
    type: 'virtual',
    role: 'main',
    kind: 'edge',
    relayPort: 0,
    portType: 'both',
    bandwidthMbps: 0,
    enabled: answered.length > 0,
    status: answered.length > 0 ? 'enabled' : 'disabled',
    forceBackup: row._count.members > 0,
    drainEndsAt: null,
    initialized: true,
    currentSerial: row.zone.revision,
    latestSerial: row.zone.revision,
    syncedAt: null,
    lastSeenAt: null,
    version: '',
    release: null,
    packs: [],
    upgradeStatus: 'notUpdated',
    error: null,
    clockOffsetMs: null,
    load: null,
    cacheBytes: 0,
    memo: row.memo,
    cacheMaxBytes: 0,
    cacheDir: '',
    logRotateSeconds: 0,
    geneva: { packetSize: null, windowSize: null },
    monitor: null,
    monitorStatus: 'unknown',
    ssh: null,
    parentID: null,
    parentName: null,
    subCount: 0,
    moveToZoneID: null,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
