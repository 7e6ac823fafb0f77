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
  /** Its listening ports: the zone's, or a relay's own. */
  ports: readonly { port: number; tls: boolean; proxyProtocol: boolean }[];
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
  ports: { port: number; tls: boolean }[];
  /** The zone's. */
  settings: unknown;
}

export async function findTarget(pool: Pool, nodeId: string): Promise<(Target & Access) | null> {
  const { rows } = await pool.query<Row>(
    `SELECT n.id, n.ip, n.port_type AS "portType", n.kind, n.public_key AS "publicKey", n.zone_id AS "zoneId",
       n.ssh_user AS "user", n.ssh_port AS "sshPort", n.ssh_password_sealed AS "passwordSealed",
       n.ssh_private_key_sealed AS "keySealed", n.ssh_fingerprint AS fingerprint, z.settings,
       CASE WHEN n.kind = 'relay' THEN json_build_array(json_build_object('port', n.relay_port, 'tls', true))
         ELSE coalesce((SELECT json_agg(json_build_object('port', p.port, 'tls', p.tls) ORDER BY p.port)
                        FROM zone_ports p WHERE p.zone_id = n.zone_id), '[]'::json) END AS ports
     FROM nodes n JOIN zones z ON z.id = n.zone_id WHERE n.id = $1`,
    [nodeId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { settings, ports, ...target } = row;
  const proxied = row.kind === 'relay' ? [] : settingsIn(settings).visitorAddress.proxyProtocolPorts;
  return { ...target, ports: ports.map((one) => ({ ...one, proxyProtocol: proxied.includes(one.port) })) };
}

/** Ports that respond to everybody without TLS. Ports with PROXY protocol serve proxies only. */
export const plainPorts = ({ ports }: Target): number[] =>
  ports.flatMap(({ port, tls, proxyProtocol }) => (tls || proxyProtocol ? [] : port));

/** Ports for the firewall. Forwards use ports that sites request. HTTP/3 uses UDP, and has no PROXY protocol. */
export const portsOf = ({ ports, portType, kind }: Target) => {
  const forwards = portType === '7' || kind === 'relay' ? [] : ['1000-65000'];
  return {
    tcp: [...ports.map(({ port }) => port), ...forwards],
    udp: [
      ...ports.flatMap(({ port, tls, proxyProtocol }) => (tls && !proxyProtocol && kind !== 'relay' ? port : [])),
      ...forwards,
    ],
  };
};

/** Ports that the firewall may have opened: a port may have had HTTP/3 before PROXY protocol. */
export const removedPorts = ({ ports, ...target }: Target) =>
  portsOf({ ...target, ports: ports.map((one) => ({ ...one, proxyProtocol: false })) });
