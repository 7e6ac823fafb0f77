// The node during its installation.
import { settingsIn } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import type { Pool } from 'pg';

export interface Target {
  id: string;
  ip: string;
  portType: string;
  kind: string;
  publicKey: string | null;
  zoneId: string;
  /** Its listening ports: those of the version that it serves, or a relay's own. */
  ports: readonly { port: number; tls: boolean; proxyProtocol: boolean }[];
  /** The ports of both versions during a trial, since the node may change to the other one. Otherwise empty. */
  portsInTrial: readonly ZonePort[];
}

interface ZonePort {
  port: number;
  tls: boolean;
}

/** Stored SSH credentials. */
interface Access {
  user: string | null;
  sshPort: number | null;
  passwordSealed: string | null;
  keySealed: string | null;
  fingerprint: string | null;
}

interface Row extends Omit<Target & Access, 'ports'> {
  ports: ZonePort[];
  /** The zone's. */
  settings: unknown;
}

/** During a trial the zone's rows contain the new state, which its nodes serve. All others serve the live version. */
export async function findTarget(pool: Pool, nodeId: string): Promise<(Target & Access) | null> {
  const { rows } = await pool.query<Row>(
    `SELECT n.id, n.ip, n.port_type AS "portType", n.kind, n.public_key AS "publicKey", n.zone_id AS "zoneId",
       n.ssh_user AS "user", n.ssh_port AS "sshPort", n.ssh_password_sealed AS "passwordSealed",
       n.ssh_private_key_sealed AS "keySealed", n.ssh_fingerprint AS fingerprint,
       coalesce(served.content, z.settings) AS settings,
       CASE WHEN n.kind = 'relay' THEN jsonb_build_array(jsonb_build_object('port', n.relay_port, 'tls', true))
         ELSE coalesce(served.content->'ports', newest.ports) END AS ports,
       CASE WHEN n.kind = 'relay' OR live.id IS NULL THEN '[]'
         ELSE coalesce(live.content->'ports', '[]') || newest.ports END AS "portsInTrial"
     FROM nodes n JOIN zones z ON z.id = n.zone_id
       CROSS JOIN LATERAL (SELECT coalesce(jsonb_agg(jsonb_build_object('port', p.port, 'tls', p.tls) ORDER BY p.port), '[]')
                           AS ports FROM zone_ports p WHERE p.zone_id = z.id) newest
       LEFT JOIN zone_versions trial ON trial.zone_id = z.id AND trial.state = 'trial'
       LEFT JOIN zone_versions live ON live.zone_id = trial.zone_id AND live.state = 'live'
       LEFT JOIN LATERAL (SELECT live.content WHERE n.id <> ALL(trial.nodes)) served ON true
     WHERE n.id = $1`,
    [nodeId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { settings, ports, ...target } = row;
  const proxied = row.kind === 'relay' ? [] : settingsIn(settings).visitorAddress.proxyProtocolPorts;
  return { ...target, ports: ports.map(({ port, tls }) => ({ port, tls, proxyProtocol: proxied.includes(port) })) };
}

/** A monitor's machine, which listens on no port. */
export async function findMonitorTarget(pool: Pool, monitorId: string): Promise<Target | null> {
  const { rows } = await pool.query<Pick<Target, 'id' | 'ip' | 'publicKey'>>(
    'SELECT id, ip, public_key AS "publicKey" FROM monitor_nodes WHERE id = $1',
    [monitorId],
  );
  const [row] = rows;
  return row === undefined ? null : { ...row, kind: 'monitor', portType: '7', zoneId: '', ports: [], portsInTrial: [] };
}

export const isMonitor = ({ kind }: Pick<Target, 'kind'>): boolean => kind === 'monitor';

/** Ports that respond to everybody without TLS. Ports with PROXY protocol serve proxies only. */
export const plainPorts = ({ ports }: Target): number[] =>
  ports.flatMap(({ port, tls, proxyProtocol }) => (tls || proxyProtocol ? [] : port));

/** Numbers of the ports on which it listens now or after the zone's trial. */
export const listeningPorts = ({ ports, portsInTrial }: Target): number[] => numbersOf([...ports, ...portsInTrial]);

const numbersOf = (ports: readonly ZonePort[]) => [...new Set(ports.map(({ port }) => port))].sort((a, b) => a - b);

/**
 * Ports for the firewall, which is only changed by an installation: later settings may turn HTTP/3 on, which uses
 * UDP, or PROXY protocol off. Forwards use ports that sites request.
 */
export function portsOf(target: Target) {
  const { ports, portsInTrial, portType, kind } = target;
  if (isMonitor(target)) return { tcp: [], udp: [] };
  const forwards = portType === '7' || kind === 'relay' ? [] : ['1000-65000'];
  const secure = kind === 'relay' ? [] : [...ports, ...portsInTrial].filter(({ tls }) => tls);
  return { tcp: [...listeningPorts(target), ...forwards], udp: [...numbersOf(secure), ...forwards] };
}
