// The second nginx: forwards ports and knows no HTTP. Reloads do not affect the first one.
import type { PortDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { conf } from './conf.ts';
import type { Conf } from './conf.ts';
import type { HostFacts } from './input.ts';
import { networkMap } from './log-conf.ts';
import { withSnippet } from './snippets.ts';
import type { Snippets } from './snippets.ts';

export interface ForwardOrigin {
  /** IPv6 in brackets. */
  address: string;
  port: number;
  weight: number;
  backup: boolean;
}

export interface Forward {
  port: PortDoc;
  /** Without origins, connections are accepted and closed. */
  origins: ForwardOrigin[];
}

export interface ForwardsInput {
  forwards: Forward[];
  /** With a fixed number of processes. */
  worker: ZoneDoc['worker'];
  snippets: Snippets;
  generation: number;
  host: HostFacts;
  /** The directory of this nginx. */
  dir: string;
}

export const forwardsConf = ({
  forwards,
  worker,
  snippets,
  generation,
  host,
  dir,
}: ForwardsInput) => conf`${host.capabilities.modules
  .filter((file) => file.includes('/ngx_stream_'))
  .map(
    (file) => conf`load_module ${file};\n`,
  )}${host.user !== null && conf`user ${host.user};\n`}worker_processes ${worker.processes};
worker_rlimit_nofile ${Math.min(worker.connections * 2 + socketsOf(forwards, host.listen, worker.processes) + 1024, 1_048_576)};
# Connections that were open before a reload may last so long.
worker_shutdown_timeout 1h;
pid ${`${dir}/run/nginx.pid`};
error_log ${`${dir}/logs/error.log`} warn;

events {
    worker_connections ${worker.connections + socketsOf(forwards, host.listen, worker.processes)};
}

stream {
${withSnippet(
  snippets,
  'stream',
  conf`    log_format port escape=json
        '{"time":$msec,"site":"$e_site","port":"$e_port","protocol":"$protocol","number":$server_port,'
        '"address":"$remote_addr","status":$status,"bytes":$bytes_sent,"requestBytes":$bytes_received,'
        '"sessionTime":$session_time,"connectTime":"$upstream_connect_time","upstream":"$upstream_addr"}';
    log_format masked escape=json
        '{"time":$msec,"site":"$e_site","port":"$e_port","protocol":"$protocol","number":$server_port,'
        '"address":"$e_network","status":$status,"bytes":$bytes_sent,"requestBytes":$bytes_received,'
        '"sessionTime":$session_time,"connectTime":"$upstream_connect_time","upstream":"$upstream_addr"}';
    access_log ${`${dir}/logs/access.json`} port buffer=64k flush=1s;
${networkMap}${
    host.capabilities.streamRealip &&
    conf`    # A port that takes PROXY headers takes them from everybody.
    set_real_ip_from 0.0.0.0/0;
    set_real_ip_from ::/0;
`
  }
    # A visitor takes two connections, one to the origin; half of them all are left to other forwards.
    limit_conn_zone $protocol$server_port zone=visitors:1m;
    # In a loop of forwards the node is its own visitor, and this limit per address ends the loop.
    limit_conn_zone $binary_remote_addr zone=addresses:${stateMegabytes(worker)}m;
${inheritedLimits(worker, conf`    `)}    limit_conn_log_level info;
${forwards.some(({ port }) => portLimit(port) !== null) && visitorZoneConf(worker)}`,
)}
    # The agent asks which tree serves.
    server {
        listen ${`unix:${dir}/run/status.sock`};
        access_log off;
        # The log's variables exist where somebody sets them.
        set $e_site "";
        set $e_port "";
        return ${String(generation)};
    }
${serversOf(forwards, host.listen, dir, worker)}}
`;

/** nginx refuses the configuration above this number. An IPv4 address has no more ports to connect from. */
const MAX_LIMIT_CONN = 65_535;
const cappedLimit = (connections: number) => Math.min(MAX_LIMIT_CONN, Math.max(1, Math.floor(connections)));
/** Limits of all ports. A server with a `limit_conn` of its own inherits none, so it repeats them. */
const inheritedLimits = ({ processes, connections }: ZoneDoc['worker'], indent: Conf) =>
  conf`${indent}limit_conn visitors ${cappedLimit((processes * connections) / 4)};
${indent}limit_conn addresses ${cappedLimit((processes * connections) / 16)};
`;
/** For a state of 64 bytes per connection. */
const stateMegabytes = ({ processes, connections }: ZoneDoc['worker']) =>
  Math.ceil((processes * connections) / 16_384) + 1;

/** Each listening socket takes a connection in every worker. nginx does not start without room for them. */
const socketsOf = (forwards: readonly Forward[], listen: readonly string[], processes: number) =>
  forwards.reduce((sum, { port }) => sum + listen.length * (port.protocol === 'udp' ? processes : 1), 1);

/** Sorted, so that input order does not matter. */
function serversOf(forwards: readonly Forward[], listen: readonly string[], dir: string, worker: ZoneDoc['worker']) {
  const bytes = zoneBytes(forwards);
  const place = ({ port }: Forward) => port.port * 2 + (port.protocol === 'udp' ? 1 : 0);
  return forwards
    .toSorted((a, b) => place(a) - place(b))
    .map((forward) => forwardConf(forward, { listen, bytes, dir, worker }));
}

interface ServerFacts {
  listen: readonly string[];
  bytes: number;
  dir: string;
  worker: ZoneDoc['worker'];
}
const forwardConf = ({ port, origins }: Forward, { listen, bytes, dir, worker }: ServerFacts) => conf`
${origins.length > 0 && upstreamConf(port, origins, bytes)}    server {
${listen.map((address) => conf`        listen ${`${address}:${port.port}`}${flags(port)};\n`)}        set $e_site ${port.siteID};
        set $e_port ${port.id};
${[
  ...(port.allow ?? []).map((network) => conf`        allow ${network};\n`),
  ...(port.deny ?? []).map((network) => conf`        deny ${network};\n`),
]}${portLimitConf(port, worker)}${port.maskAddress === true && conf`        access_log ${`${dir}/logs/access.json`} masked buffer=64k flush=1s;\n`}${
  origins.length === 0
    ? conf`        return "";\n`
    : conf`        proxy_pass ${`port_${port.id}`};
        proxy_connect_timeout ${port.connectTimeoutSeconds}s;
        proxy_timeout ${port.idleTimeoutSeconds}s;
${port.protocol === 'tcp' && port.sendProxy && conf`        proxy_protocol on;\n`}`
}    }
`;

/** Connections of one visitor at one port. A UDP session is no connection. */
const portLimit = ({ protocol, limitConn }: PortDoc) =>
  protocol === 'tcp' && limitConn !== undefined ? cappedLimit(limitConn) : null;

/** nginx refuses a reload that changes the key of a zone, so the key must stay as it is. */
const visitorZoneConf = (worker: ZoneDoc['worker']) => conf`
    # An IPv6 visitor has a network of 64 bits. Mapped addresses and those behind NAT64 (64:ff9b::/96) are IPv4.
    map $binary_remote_addr $e_visitor {
        default $binary_remote_addr;
        "~(?s)^(?:\\x00{10}\\xff\\xff|\\x00\\x64\\xff\\x9b\\x00{8})(?<e_ipv4>.{4})$" $e_ipv4;
        "~(?s)^(?<e_ipv6_network>.{8}).{8}$" $e_ipv6_network;
    }
    limit_conn_zone $server_port/$e_visitor zone=port_visitors:${stateMegabytes(worker)}m;
`;

function portLimitConf(port: PortDoc, worker: ZoneDoc['worker']) {
  const own = portLimit(port);
  return own !== null && conf`${inheritedLimits(worker, conf`        `)}        limit_conn port_visitors ${own};\n`;
}

/** With one socket per worker, packets of one visitor reach the same worker. */
const flags = ({ protocol, acceptProxy }: PortDoc) =>
  protocol === 'udp' ? conf` udp reuseport` : conf`${acceptProxy && conf` proxy_protocol`} backlog=4096`;

const methods = {
  roundRobin: null,
  leastConnections: conf`        least_conn;\n`,
  addressHash: conf`        hash $remote_addr consistent;\n`,
};

function upstreamConf(port: PortDoc, origins: ForwardOrigin[], bytes: number) {
  const chosen = port.method === 'addressHash' ? hashed(origins) : balanced(origins);
  return conf`    upstream ${`port_${port.id}`} {
        zone ports ${bytes};
${methods[port.method]}${chosen.map(
    ({ address, port: number, weight, backup }) =>
      conf`        server ${`${address}:${number}`} weight=${weight} max_fails=${port.maxFails} fail_timeout=${port.failTimeoutSeconds}s${backup && conf` backup`};\n`,
  )}    }
`;
}

/** nginx refuses a group that has backups only. */
const balanced = (origins: ForwardOrigin[]) =>
  origins.every(({ backup }) => backup) ? origins.map((origin) => ({ ...origin, backup: false })) : origins;

/** nginx's hash ignores backups, so they serve only when there are no others. It has 160 points per unit of weight. */
function hashed(origins: ForwardOrigin[]): ForwardOrigin[] {
  const mains = origins.filter(({ backup }) => !backup);
  const chosen = mains.length > 0 ? mains : balanced(origins);
  const unit = chosen.map(({ weight }) => weight).reduce(divisor);
  const sum = chosen.reduce((all, { weight }) => all + weight / unit, 0);
  const scale = Math.min(1, MAX_WEIGHT / sum) / unit;
  return chosen.map((origin) => ({ ...origin, weight: Math.max(1, Math.round(origin.weight * scale)) }));
}
const MAX_WEIGHT = 32;
const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/** Shared memory for origin state. nginx refuses all forwards when it is too small. */
const zoneBytes = (forwards: readonly Forward[]) =>
  1_048_576 + 4096 * forwards.reduce((count, { origins }) => count + origins.length + 2, 0);
