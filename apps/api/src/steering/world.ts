// Reads the facts for steering: of one zone for previews, of all groups for the engine.
import type { Pool, PoolClient } from 'pg';
import * as z from 'zod';
import { OutReason } from '@edgeloom/contract/groups/groups.ts';
import { MonitorVerdict } from '@edgeloom/contract/nodes/nodes.ts';
import { monitorCounts } from '../monitors/counts.ts';
import { WantedSets } from '../dns-state/sets.ts';
import type { NodeFacts, NodeHealth } from './node-health.ts';
import type { GroupFacts, MemberFacts, VirtualNodeFacts, VirtualRecordFacts, World } from './steer.ts';

export interface SeenWorld extends World {
  /** Node health as of the last pass. */
  before: ReadonlyMap<string, NodeHealth>;
  /** Ports of sites by zone, for probes. */
  ports: ReadonlyMap<string, readonly number[]>;
}

interface GroupRow extends Omit<GroupFacts, 'members' | 'last'> {
  last: unknown;
}
interface MemberRow extends MemberFacts {
  groupId: string;
}
interface RecordRow extends VirtualRecordFacts {
  virtualNodeId: string;
}
interface NodeRow extends NodeFacts {
  isIn: boolean | null;
  reason: string | null;
  since: Date;
  wellSince: Date | null;
  failures: number;
  isBusy: boolean;
  monitorStatus: string;
  monitorSince: Date | null;
  monitorClearSince: Date | null;
  monitorSilentSince: Date | null;
}

export async function readWorld(db: Pool | PoolClient, zoneId: string | null): Promise<SeenWorld> {
  const ask = async <Row extends object>(text: string) => (await db.query<Row>(text, [zoneId])).rows;
  const groups = await ask<GroupRow>(
    `SELECT g.id, g.zone_id AS "zoneId", z.client_id AS "clientId", g.name, g.dns_label AS "dnsLabel",
       g.backup_group_id AS "backupGroupId", g.forced_at AS "forcedAt", coalesce(t.sets, '[]') AS last
     FROM groups g JOIN zones z ON z.id = g.zone_id
     LEFT JOIN dns_targets t ON t.client_id = z.client_id AND t.label = g.dns_label
     WHERE $1::uuid IS NULL OR g.zone_id = $1`,
  );
  const members = await ask<MemberRow>(
    `SELECT m.group_id AS "groupId", m.line, m.node_id AS "nodeId", m.virtual_node_id AS "virtualNodeId", m.weight
     FROM group_members m JOIN groups g ON g.id = m.group_id WHERE $1::uuid IS NULL OR g.zone_id = $1`,
  );
  const nodes = await ask<NodeRow>(
    `SELECT n.id, n.zone_id AS "zoneId", n.name, n.ip, n.role, n.kind, n.enabled, n.drain_ends_at AS "drainEndsAt", n.joined_at AS "joinedAt",
       n.parent_id AS "parentId", n.bandwidth_mbps AS "bandwidthMbps",
       coalesce((n.monitor->>'enabled')::boolean AND n.monitor->>'failAction' = 'none', false) AS "isAlwaysInDns",
       s.connected_at AS "connectedAt", s.last_seen_at AS "lastSeenAt", s.nginx,
       CASE WHEN s.connected_at IS NULL THEN NULL ELSE (s.load->>'sent')::float8 END AS sent,
       t.is_in AS "isIn", t.reason, t.since, t.well_since AS "wellSince", t.failures, t.is_busy AS "isBusy",
       t.monitor_status AS "monitorStatus", t.monitor_since AS "monitorSince",
       t.monitor_clear_since AS "monitorClearSince",
       t.monitor_silent_since AS "monitorSilentSince", c.counts AS monitors
     FROM nodes n LEFT JOIN node_states s ON s.node_id = n.id LEFT JOIN node_standings t ON t.node_id = n.id
       LEFT JOIN LATERAL (${monitorCounts}) c ON (n.monitor->>'enabled')::boolean
     WHERE n.zone_id = $1 OR $1::uuid IS NULL AND n.zone_id IN (SELECT zone_id FROM groups)`,
  );
  const virtualNodes = await ask<Omit<VirtualNodeFacts, 'records'>>(
    `SELECT v.id, v.name, v.switching_interval AS "switchingInterval" FROM virtual_nodes v WHERE $1::uuid IS NULL OR v.zone_id = $1`,
  );
  const records = await ask<RecordRow>(
    `SELECT r.virtual_node_id AS "virtualNodeId", r.cname, r.ip, r.node_id AS "nodeId"
     FROM virtual_records r JOIN virtual_nodes v ON v.id = r.virtual_node_id
     WHERE NOT r.disabled AND ($1::uuid IS NULL OR v.zone_id = $1) ORDER BY r.id`,
  );
  const ports = await ask<{ zoneId: string; ports: number[] }>(
    `SELECT zone_id AS "zoneId", array_agg(port ORDER BY port) AS ports FROM zone_ports WHERE $1::uuid IS NULL OR zone_id = $1 GROUP BY zone_id`,
  );
  const membersOf = Map.groupBy(members, ({ groupId }) => groupId);
  const recordsOf = Map.groupBy(records, ({ virtualNodeId }) => virtualNodeId);
  const before = new Map(nodes.flatMap((row) => (row.isIn === null ? [] : [[row.id, standingIn(row, row.isIn)]])));
  return {
    groups: new Map(
      groups.map((row) => [
        row.id,
        { ...row, members: membersOf.get(row.id) ?? [], last: WantedSets.catch([]).parse(row.last) },
      ]),
    ),
    nodes: new Map(nodes.map((row) => [row.id, row])),
    virtualNodes: new Map(virtualNodes.map((row) => [row.id, { ...row, records: recordsOf.get(row.id) ?? [] }])),
    standings: before,
    before,
    ports: new Map(ports.map((row) => [row.zoneId, row.ports])),
  };
}

const Reason = OutReason.nullable().catch(null);
const Verdict = MonitorVerdict.catch('unknown');
const standingIn = ({ reason, since, monitorStatus, ...row }: NodeRow, isIn: boolean): NodeHealth => ({
  isIn,
  reason: Reason.parse(reason),
  since: z.date().parse(since),
  wellSince: row.wellSince,
  failures: row.failures,
  isBusy: row.isBusy,
  monitorStatus: Verdict.parse(monitorStatus),
  monitorSince: row.monitorSince,
  monitorClearSince: row.monitorClearSince,
  monitorSilentSince: row.monitorSilentSince,
});
