import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { conf } from './conf.ts';
import type { Conf } from './conf.ts';
import { relayServer } from './relay-conf.ts';
import { altSvcMap, hasHttp3, http3Ports, quicListens } from './http3.ts';
import type { HostFacts, RenderInput } from './render.ts';
import { withSnippet } from './snippets.ts';
import type { Snippets } from './snippets.ts';

/**
 * Hop A: serves visitors and owns the cache. It knows no origins.
 * ⏎ reuseport is for QUIC only: with it, a second nginx started by mistake would silently serve half of the requests
 * from
 * an old tree.
 */
export const listenersConf = ({ zone, node, host, snippets }: RenderInput) => conf`upstream hop {
    server ${`unix:${host.dir}/run/hop.sock`};
    keepalive 256;
}
# Without kept connections: one that the other side is just closing would fail a request that must not be sent twice.
upstream hop_once {
    server ${`unix:${host.dir}/run/hop.sock`};
}

# What a compressing origin is asked for, in four classes, so that a store never mixes encodings. What browsers say is
# found at once; anything else is read with care.
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
# Whether the visitor sent X-E-Vary, by which hop A names the variant. proxy_set_header overwrites the other X-E- fields.
map $http_x_e_vary $e_forged {
    default forged;
    "" "";
}
# All that decides about a request before its answer is known: Lua remembers the decision by it. The last four are what
# the usual request does not have, and stand last. The handshake refuses server names with a space or other odd bytes.
map "" $e_facts {
    default "$request_method $scheme:$server_port $ssl_server_name $e_encoding $host$request_uri $http_if_modified_since$http_upgrade$e_body$e_forged";
}
map $http_upgrade $e_upgrade {
    default "";
    "~*^websocket$" websocket;
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
map "" $e_rate_after { default 0; }
map "" $e_bypass { default ""; }
map "" $e_hsts { default ""; }
map "" $e_pass { default ""; }
map "" $e_modules { default ""; }
# Lua may write only what some directive reads.
map $e_modules $e_unused { default ""; }
map "" $e_version { default ""; }
# What is asked for instead of what the visitor wrote: without its token.
map "" $e_uri { default ""; }
map "" $e_again { default ""; }
# How often this request has waited for another one; "alone": it waits no more.
map "" $e_round { default ""; }
map "" $e_cache_control { default $upstream_http_x_e_cc; }
# How the visitor came: of a request that is simulated Lua says so.
map "" $e_scheme { default $scheme; }
map "" $e_port { default $server_port; }
${altSvcMap(http3Ports(zone, host.capabilities))}
${node?.enabled !== false && (node?.relayPort === undefined ? visitors(zone, host, snippets) : relayServer(node.relayPort, zone, host))}`;

/** A disabled node has no visitor ports. It keeps its cache and responds to the agent. */
const visitors = (zone: ZoneDoc, host: HostFacts, snippets: Snippets) => conf`server {
${listens(zone, host.listen, host.capabilities.http2)}${quicListens(http3Ports(zone, host.capabilities), host.listen)}    server_name _;
${withSnippet(snippets, 'visitors', conf`${zone.ports.some((port) => port.tls) && tls(zone, host.dir)}${zone.http2 && host.capabilities.http2 === 'directive' && conf`    http2 on;\n`}${zone.http2 && host.capabilities.http2 !== 'none' && uploadWindow}${hasHttp3(zone, host.capabilities) && conf`    http3 on;\n`}${hopA(zone, host, hop)}`)}}
`;

/** The receive window of HTTP/2 uploads. As large as the buffers of a slow download. */
const uploadWindow = conf`    http2_body_preread_size 512k;
`;

/** The next hop of hop A, and the Lua phases that run. */
export type Hop = {
  access: string;
  headerFilter: string;
  /** The upstream for cached requests, and the one for requests that bypass the cache. */
  upstream: Conf;
  once: Conf;
  /** An additional private header field. */
  fields: Conf | false;
  /** Additional directives of cached locations, and of slices. */
  store: Conf | false;
  pieces: Conf;
  /** Whether nginx's own error pages are replaced. */
  pages: boolean;
};

/**
 * Slices use nginx's cache lock, everything else cache/leaders.lua. The timeout also applies to a slice that cannot be
 * stored or whose worker was killed.
 */
export const piecesLock = conf`        proxy_cache_lock on;
        proxy_cache_lock_timeout 15s;
        proxy_cache_lock_age 15s;
`;

const hop: Hop = {
  access: 'access',
  headerFilter: 'header_filter',
  upstream: conf`hop`,
  once: conf`hop_once`,
  fields: false,
  store: false,
  pieces: piecesLock,
  pages: true,
};

/** Codes that nginx generates itself, besides 502. */
const ownErrors = conf`405 411 412 413 415 416 421 429 500 501 503 504`;

/**
 * A request line that nginx could not parse has no URI, so no named location handles it.
 * Visitors cannot request a path with two slashes, since nginx merges them.
 */
const earlyErrors = conf`    error_page 400 414 505 //unreadable;
    # nginx's own numbers for kinds of 400.
    error_page 494 //unreadable?494;
    error_page 495 //unreadable?495;
    error_page 496 //unreadable?496;
    error_page 497 //unreadable?497;
`;

const errorPages = (luaDir: string) => conf`    recursive_error_pages on;
${earlyErrors}    error_page 502 ${ownErrors} @page;
    location @page {
        recursive_error_pages off;
        content_by_lua_file ${`${luaDir}/edge/phases/own_error.lua`};
    }
    # A page must not become a part of the file that a subrequest fetches.
    location @slice_page {
        recursive_error_pages off;
        content_by_lua_file ${`${luaDir}/edge/phases/slice_error.lua`};
    }
    location = //unreadable {
        internal;
        client_max_body_size 0;
        recursive_error_pages off;
        content_by_lua_file ${`${luaDir}/edge/phases/own_error.lua`};
    }
`;

/** A location with its own error_page inherits none. */
const ownErrorsHere = conf`        error_page ${ownErrors} @page;
`;

const slicePages = conf`        error_page 502 ${ownErrors} @slice_page;
`;

/** The locations that serve visitors. */
export const hopA = (
  zone: ZoneDoc,
  host: HostFacts,
  { access, headerFilter, upstream, once, fields, store: more, pieces, pages }: Hop,
) =>
  conf`    client_max_body_size ${zone.maxBodyBytes};
    client_header_buffer_size 2k;
    large_client_header_buffers 8 16k;
    client_header_timeout 15s;
    client_body_timeout 60s;
    send_timeout 60s;
    limit_rate_after $e_rate_after;
    keepalive_timeout 65s;
    keepalive_requests 10000;
    absolute_redirect off;
    port_in_redirect off;

    header_filter_by_lua_file ${`${host.luaDir}/edge/phases/${headerFilter}.lua`};
${pages && errorPages(host.luaDir)}
    # The name that private request fields begin with is X-E-; each is overwritten here and emptied in hop B.
    proxy_http_version 1.1;
${requestFields}${fields}    proxy_set_header X-E-Slice "";
    # The time limits are the origin's, and hop B keeps them.
    proxy_connect_timeout 5s;
    proxy_send_timeout 2h;
    proxy_read_timeout 2h;
${buffers}    proxy_request_buffering off;
    proxy_next_upstream off;
    proxy_pass_header Date;
    proxy_pass_header Server;
    # Stored are the fields that steer this store; sent are the origin's own.
    proxy_hide_header Cache-Control;
    proxy_hide_header Vary;
    proxy_hide_header X-E-CC;
    proxy_hide_header X-E-V;
    proxy_hide_header X-E-Birth;
    proxy_hide_header X-E-Recipe;
    proxy_hide_header X-E-Hide;
    proxy_hide_header X-E-Browser;
    proxy_hide_header X-E-Tags;
    proxy_hide_header X-E-Up;
    proxy_hide_header X-E-Turn;
    proxy_hide_header X-E-Length;
    proxy_hide_header X-Request-Id;
    # It would send visitors past us.
    proxy_hide_header Alt-Svc;
    add_header Alt-Svc $e_alt_svc always;
    add_header Cache-Control $e_cache_control always;
    add_header Strict-Transport-Security $e_hsts always;
    add_header Set-Cookie $e_pass always;
    add_header Vary $upstream_http_x_e_v always;
    add_header X-Request-Id $request_id always;

    location / {
        access_by_lua_file ${`${host.luaDir}/edge/phases/${access}.lua`};
        proxy_cache_key $e_key;
${collapsingStore}${more}        # Hop B closed without an answer and nothing stale was allowed: ask again for the origin's own error.
        error_page 502 = @again;
${pages && ownErrorsHere}        proxy_pass http://${upstream};
    }
    # The same for a request whose line is not asked for as it stands. A variable in every proxy_pass would cost each hit.
    location @signed {
        proxy_cache_key $e_key;
${collapsingStore}${more}        error_page 502 = @again;
${pages && ownErrorsHere}        proxy_pass http://${upstream}$e_uri;
    }
    # The last request of its connection, while nginx is about to be reloaded. HTTP/2 and HTTP/3 announce the end themselves.
    location @last {
        keepalive_timeout 0;
        access_by_lua_file ${`${host.luaDir}/edge/phases/${access}.lua`};
        proxy_cache_key $e_key;
${collapsingStore}${more}        error_page 502 = @again;
${pages && ownErrorsHere}        proxy_pass http://${upstream}$e_uri;
    }
${waiting(host.luaDir, upstream, conf`${more}${pages && ownErrorsHere}`)}${host.capabilities.slice && slices(upstream, conf`${requestFields}${fields}`, conf`${pieces}${pages && slicePages}`)}${post(once)}${pastTheStore(once)}`;

/** Hop B redirects here when another request fetches the response: wait, then look into the cache again. */
export const waiting = (luaDir: string, upstream: Conf, more: Conf | false) => conf`    location @wait {
        rewrite_by_lua_file ${`${luaDir}/edge/phases/wait.lua`};
        proxy_cache_key $e_key;
${collapsingStore}${more}        error_page 502 = @again;
        proxy_pass http://${upstream}$e_uri;
    }
`;

/** nginx stores a cached file's body offset in 16 bits, so a larger buffer would corrupt files with long headers. */
export const buffers = conf`    proxy_buffer_size 65535;
    proxy_buffers 16 32k;
`;

/** Hop B's largest header plus the fields that hop B adds. */
const longHeader = conf`        proxy_buffer_size 80k;
`;

/** Stores the response to a POST for later GETs. A POST is never answered from the cache. */
const post = (once: Conf) => conf`    location @post {
        proxy_cache_key $e_key;
${store}        proxy_ignore_headers Expires Set-Cookie X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset;
        proxy_cache_methods POST;
        proxy_cache_bypass 1;
        proxy_pass http://${once}$e_uri;
    }
`;

export const pastTheStore = (once: Conf) => conf`    location @again {
        set $e_again "AGAIN ";
${longHeader}        proxy_ignore_headers X-Accel-Expires Expires Set-Cookie X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset;
        proxy_pass http://${once}$e_uri;
    }
    # Not for the store: unsafe methods, sockets, and what is known to be uncacheable.
    location @pass {
        proxy_buffering off;
        # Longer than hop B waits for a silent WebSocket, at most.
        proxy_read_timeout 25h;
${longHeader}        proxy_ignore_headers X-Accel-Expires Expires Set-Cookie X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset;
        proxy_pass http://${once}$e_uri;
    }
`;

/** proxy_set_header in a location replaces the server's list, so locations that add a field repeat it. */
const requestFields = conf`    proxy_set_header Host $host;
    proxy_set_header Connection $e_connection;
    proxy_set_header Upgrade $e_upgrade;
    proxy_set_header X-E-At "$e_scheme:$e_port";
    proxy_set_header X-E-Address $remote_addr;
    proxy_set_header X-E-Key $e_key;
    proxy_set_header X-E-Version $e_version;
    proxy_set_header X-E-State "$e_again$upstream_cache_status";
    proxy_set_header X-E-Connection $http_connection;
    proxy_set_header X-E-Image "";
    proxy_set_header X-E-Round $e_round;
    proxy_set_header X-E-Documents "";
    proxy_set_header X-E-Fresh "";
    proxy_set_header X-Request-Id $request_id;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $e_scheme;
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header Accept-Encoding $e_accept;
    proxy_set_header Via $e_via;
    proxy_set_header CDN-Loop $e_loop;
    proxy_set_header Keep-Alive "";
    proxy_set_header Proxy "";
    proxy_set_header Proxy-Authorization "";
    proxy_set_header Proxy-Connection "";
    proxy_set_header TE "";
    proxy_set_header Trailer "";
`;

/** Cache directives shared by all cached locations. */
const store = conf`        proxy_cache edge;
        proxy_cache_methods GET HEAD;
        proxy_cache_bypass $e_bypass;
        proxy_cache_revalidate on;
        proxy_cache_background_update on;
        # Stale answers only where the stored response itself carries the permission.
        proxy_cache_use_stale off;
        proxy_force_ranges on;
        if_modified_since before;
`;

/** X-Accel-Redirect leads to @wait. Only hop B can send it, since nginx strips an origin's. */
export const collapsingStore = conf`${store}        proxy_ignore_headers Expires Set-Cookie X-Accel-Limit-Rate X-Accel-Charset;
`;

/** Large files: nginx fetches slices in sequence and caches each separately. */
export const slices = (upstream: Conf, fields: Conf, pieces: Conf) => conf`    location @slice {
        slice 1m;
${fields}        proxy_set_header Range $slice_range;
        proxy_set_header X-E-Slice $slice_range;
        proxy_cache_key $e_key$slice_range;
${store}        proxy_ignore_headers Expires Set-Cookie X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset;
${pieces}        proxy_pass http://${upstream}$e_uri;
    }
`;

/** Sorted, so that input order does not matter. */
export const portsOf = (zone: ZoneDoc) =>
  zone.ports.map(({ port, tls: secure }) => ({ port, tls: secure })).toSorted((a, b) => a.port - b.port);

function listens(zone: ZoneDoc, addresses: string[], http2: string) {
  const flags = (secure: boolean) =>
    conf`${secure && conf` ssl`}${secure && zone.http2 && http2 === 'listen' && conf` http2`}`;
  return portsOf(zone).flatMap(({ port, tls: secure }) =>
    addresses.map((address) => conf`    listen ${`${address}:${port}`}${flags(secure)} default_server backlog=4096;\n`),
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
