import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { piecesLock } from './cache-conf.ts';
import { conf } from './conf.ts';
import { hopA } from './hop-a-conf.ts';
import type { Hop } from './hop-a-conf.ts';
import { relayServer } from './relay-conf.ts';
import { altSvcMap, hasHttp3, http3Ports, quicListens } from './http3.ts';
import type { HostFacts, RenderInput } from './input.ts';
import { withSnippet } from './snippets.ts';
import type { Snippets } from './snippets.ts';

/**
 * Hop A: serves visitors and owns the cache. It knows no origins.
 * reuseport is for QUIC only: with it, a second nginx started by mistake would silently serve half of the requests
 * from an old tree.
 */
export const listenersConf = ({ zone, node, host, snippets }: RenderInput) => conf`upstream hop {
    server ${`unix:${host.dir}/run/hop.sock`};
    keepalive 256;
}
# Without keepalive: a connection that is just being closed would fail a request that must not be sent twice.
upstream hop_once {
    server ${`unix:${host.dir}/run/hop.sock`};
}

# The encodings requested from origins, in four classes, so that the cache never mixes them. The usual values of
# browsers are compared first, others are parsed.
map $http_accept_encoding $e_encoding {
    default "$e_br$e_gz";
    "" "";
    "gzip, deflate, br" bg;
    "gzip, deflate, br, zstd" bg;
    gzip g;
    "gzip, deflate" g;
}
map $http_accept_encoding $e_br {
    default "";
    "~*(?:^|,)[ \t]*br[ \t]*(?:;[ \t]*q=(?:0\\.0*[1-9][0-9]*|1(?:\\.0*)?)[ \t]*)?(?:,|$)" b;
}
map $http_accept_encoding $e_gz {
    default "";
    "~*(?:^|,)[ \t]*gzip[ \t]*(?:;[ \t]*q=(?:0\\.0*[1-9][0-9]*|1(?:\\.0*)?)[ \t]*)?(?:,|$)" g;
}
map $e_encoding $e_accept {
    default identity;
    b "br";
    g "gzip";
    bg "br, gzip";
}
# Whether a request has a body.
map "$http_content_length$http_transfer_encoding" $e_body {
    default body;
    "" "";
    0 "";
}
# Whether the visitor sent X-E-Vary, by which hop A names the variant. proxy_set_header overwrites other X-E- fields.
map $http_x_e_vary $e_forged {
    default forged;
    "" "";
}
# Whether Connection names a field of this request. The usual values are compared first.
map $http_connection $e_named {
    default named;
    "" "";
    keep-alive "";
    close "";
    upgrade "";
}
# A weak ETag in If-Range, which nginx would compare as a strong one.
map $http_if_range $e_weak_range {
    default "";
    "" "";
    "~^W/" weak;
}
# The inputs of decisions about a request: Lua caches the decision by them. The last six are empty in usual requests.
# The handshake refuses server names with a space or other odd bytes.
map "" $e_facts {
    default "$request_method $scheme:$server_port $ssl_server_name $e_encoding $host$request_uri $http_if_modified_since$http_upgrade$e_body$e_forged$e_named$e_weak_range";
}
# HTTP/1.0 has no upgrades (RFC 9110 7.8), and in HTTP/2 the origin's bytes would break the visitor's connection.
map "$server_protocol $http_upgrade" $e_upgrade {
    default "";
    "~*^HTTP/1\\.1 websocket$" websocket;
}
map $e_upgrade $e_connection {
    default "";
    websocket upgrade;
}
map $http_via $e_via {
    default "$http_via, 1.1 edgeloom";
    "" "1.1 edgeloom";
}
map $http_cdn_loop $e_loop {
    default "$http_cdn_loop, edgeloom";
    "" edgeloom;
}
# Written by Lua. Maps and not "set": what no request needs costs none anything.
map "" $e_key { default ""; }
map "" $e_site { default ""; }
map "" $e_domain { default ""; }
map "" $e_cause { default ""; }
map "" $e_rule { default ""; }
map "" $e_trail { default ""; }
map "" $e_waf { default ""; }
# A boolean of JSON.
map "" $e_preheat { default false; }
# "address", "query" or "both": what the log leaves out.
map "" $e_mask { default ""; }
map "" $e_rate_after { default 0; }
map "" $e_bypass { default ""; }
map "" $e_hsts { default ""; }
map "" $e_pass { default ""; }
map "" $e_modules { default ""; }
# The request's entry in lua/edge/limits/concurrent_requests.lua.
map "" $e_running { default ""; }
# Lua may write only what some directive reads.
map "$e_modules$e_running" $e_unused { default ""; }
map "" $e_version { default ""; }
# The URI for the origin if it differs from the visitor's: without its token.
map "" $e_uri { default ""; }
map "" $e_again { default ""; }
# How often this request has waited for another one; "alone": it does not wait again.
map "" $e_round { default ""; }
map "" $e_cache_control { default $upstream_http_x_e_cc; }
# The visitor's scheme and port. Lua sets them for simulated requests.
map "" $e_scheme { default $scheme; }
map "" $e_port { default $server_port; }
${altSvcMap(http3Ports(zone, host.capabilities))}
${node?.enabled !== false && (node?.relayPort === undefined ? visitors(zone, host, snippets) : relayServer(node.relayPort, zone, host))}`;

/** A disabled node has no visitor ports. It keeps its cache and responds to the agent. */
function visitors(zone: ZoneDoc, host: HostFacts, snippets: Snippets) {
  const proxied = zone.ports.filter(({ proxyProtocol }) => proxyProtocol === true);
  const direct = { ...zone, ports: zone.ports.filter((port) => !proxied.includes(port)) };
  const server = visitorServer(direct, host, snippets, zone.visitorAddress?.header);
  // nginx has one source of addresses per server.
  const proxiedServer = visitorServer({ ...zone, ports: proxied }, host, snippets, 'proxy_protocol');
  return conf`${(direct.ports.length > 0 || proxied.length === 0) && server}${proxied.length > 0 && proxiedServer}`;
}

const visitorServer = (zone: ZoneDoc, host: HostFacts, snippets: Snippets, source: string | undefined) => conf`server {
${listens(zone, host.listen, host.capabilities.http2)}${quicListens(http3Ports(zone, host.capabilities), host.listen)}    server_name _;
${zone.visitorAddress !== undefined && source !== undefined && realAddress(zone.visitorAddress.networks, source)}${withSnippet(snippets, 'visitors', conf`${zone.ports.some((port) => port.tls) && tls(zone, host.dir)}${zone.http2 && host.capabilities.http2 === 'directive' && conf`    http2 on;\n`}${zone.http2 && host.capabilities.http2 !== 'none' && uploadWindow}${hasHttp3(zone, host.capabilities) && conf`    http3 on;\n`}${hopA(zone, host, hop)}`)}}
`;

/** Addresses are read from the right, up to the first one that is not trusted. A PROXY header has one. */
const realAddress = (networks: readonly string[], source: string) =>
  conf`${networks.map((network) => conf`    set_real_ip_from ${network};\n`)}    real_ip_header ${source};
    real_ip_recursive on;
`;

/** The receive window of streamed HTTP/2 uploads. As large as the buffers of a slow download. uploads.lua knows it. */
const uploadWindow = conf`    http2_body_preread_size 512k;
`;

const hop: Hop = {
  access: 'access',
  headerFilter: 'header_filter',
  hasLogPhase: true,
  upstream: conf`hop`,
  once: conf`hop_once`,
  fields: false,
  store: false,
  pieces: piecesLock,
  pages: true,
};

/** Sorted, so that input order does not matter. */
const sorted = (ports: ZoneDoc['ports']) => ports.toSorted((a, b) => a.port - b.port);

export const portsOf = (zone: ZoneDoc) => sorted(zone.ports).map(({ port, tls: secure }) => ({ port, tls: secure }));

function listens(zone: ZoneDoc, addresses: string[], http2: string) {
  const flags = ({ tls: secure, proxyProtocol }: ZoneDoc['ports'][number]) =>
    conf`${secure && conf` ssl`}${secure && zone.http2 && http2 === 'listen' && conf` http2`}${proxyProtocol === true && conf` proxy_protocol`}`;
  return sorted(zone.ports).flatMap((port) =>
    addresses.map(
      (address) => conf`    listen ${`${address}:${port.port}`}${flags(port)} default_server backlog=4096;\n`,
    ),
  );
}

/** This certificate is for clients without SNI or with an unknown name. */
const tls = (zone: ZoneDoc, dir: string) => conf`    ssl_protocols ${[...zone.tlsProtocols]
  .sort()
  .map((protocol, i) => conf`${i > 0 && conf` `}${protocol}`)};
    ssl_ciphers ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305;
    ssl_prefer_server_ciphers off;
    ssl_session_cache shared:tls:32m;
    ssl_session_timeout 1d;
    ssl_session_tickets off;
    ssl_certificate ${`${dir}/keys/fallback.pem`};
    ssl_certificate_key ${`${dir}/keys/fallback.key`};
    ssl_client_hello_by_lua_block { edge.hello() }
    ssl_certificate_by_lua_block { edge.certificate() }
`;
