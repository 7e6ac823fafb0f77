import type { NodeDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { ZONE_NAME } from '../nginx/self-signed.ts';
import { hiddenFields } from './cache-conf.ts';
import { conf } from './conf.ts';
import type { Conf } from './conf.ts';
import type { HostFacts, RenderInput } from './input.ts';
import { withSnippet } from './snippets.ts';
import type { Snippets } from './snippets.ts';

/** Hop B: talks to origins, and decides from their responses what hop A stores. */
export const hopConf = ({
  zone,
  node,
  host,
  snippets,
}: RenderInput) => conf`# The peer is chosen in Lua for every try. Plain connections are kept and shared: nothing in them names a site.
upstream origin {
    server 0.0.0.1;
    balancer_by_lua_block { edge.balancer() }
    keepalive 128;
    keepalive_timeout 55s;
}
# For requests that must not be sent twice: a kept connection may be closed just as the request is written to it.
upstream origin_once {
    server 0.0.0.1;
    balancer_by_lua_block { edge.balancer() }
}
# nginx itself pools TLS connections by address alone, so a kept one could carry another site's server name: without a
# pool for each name, which Lua makes where it can, none is kept.
upstream origin_tls {
    server 0.0.0.1;
    balancer_by_lua_block { edge.balancer() }
}
${host.capabilities.webp && imageService(host.dir)}map "" $o_host { default ""; }
# A rewritten path with query, exactly as it is sent. Without one nginx sends the visitor's.
map "" $o_uri { default ""; }
map "" $o_name { default ""; }
map "" $o_scheme { default http; }
map "" $o_pool { default origin; }
map "" $o_chain { default ""; }
map "" $o_key { default ""; }
# The token of a request that leads, see cache/leaders.lua.
map "" $o_turn { default ""; }
map $o_turn $o_unread { default ""; }
${asksRelays(zone, node) && relayUpstream}
server {
    listen ${`unix:${host.dir}/run/hop.sock`} backlog=4096;
    server_name _;
    access_log off;
${hopB(host, snippets, { access: 'origin_access', headerFilter: 'origin_header', hasLogPhase: true, fields: false, pass: conf`$o_scheme://$o_pool` })}${host.capabilities.webp && images(host.luaDir)}${asksRelays(zone, node) && relayLocations(host)}}
`;

type Way = {
  access: string;
  headerFilter: string;
  /** Whether Lua runs in the log phase. */
  hasLogPhase: boolean;
  /** An additional private header field. */
  fields: Conf | false;
  pass: Conf;
};

/** The path of a request between cache and origin. */
export const hopB = (host: HostFacts, snippets: Snippets, way: Way) =>
  withSnippet(snippets, 'origins', originSide(host, way, headerBuffer(snippets)));

/**
 * Buffer for an origin's response header. nginx requires proxy_buffers to be at least twice as large plus one, so an
 * operator's own smaller buffers keep nginx's default.
 */
const headerBuffer = (snippets: Snippets) =>
  (snippets.get('origins') ?? []).some(({ name }) => /^proxy_(?:busy_)?buffers/.test(name.text))
    ? conf`16k`
    : conf`64k`;

const originSide = (
  host: HostFacts,
  { access, headerFilter, hasLogPhase, fields, pass }: Way,
  buffer: Conf,
) => conf`    # Must outlive hop A's idle connections.
    keepalive_timeout 1h;
    keepalive_requests 1000000;
    client_max_body_size 0;
    client_header_buffer_size 4k;
    large_client_header_buffers 8 64k;
    client_header_timeout 1h;
    client_body_timeout 2h;
    send_timeout 2h;

    access_by_lua_file ${`${host.luaDir}/edge/phases/${access}.lua`};
    header_filter_by_lua_file ${`${host.luaDir}/edge/phases/${headerFilter}.lua`};
    body_filter_by_lua_file ${`${host.luaDir}/edge/phases/origin_body.lua`};
${hasLogPhase && conf`    log_by_lua_file ${`${host.luaDir}/edge/phases/origin_log.lua`};\n`}    proxy_http_version 1.1;
    proxy_set_header Host $o_host;
    proxy_set_header Connection $e_connection;
    proxy_set_header Upgrade $e_upgrade;
    proxy_set_header X-E-At "";
    proxy_set_header X-E-Address "";
    proxy_set_header X-E-Key "";
    proxy_set_header X-E-Version "";
    proxy_set_header X-E-State "";
    proxy_set_header X-E-Vary "";
    proxy_set_header X-E-Slice "";
    proxy_set_header X-E-Image "";
    proxy_set_header X-E-Round "";
    proxy_set_header X-E-Method "";
    proxy_set_header X-E-Documents "";
    proxy_set_header X-E-Fresh "";
    proxy_set_header X-E-Rate "";
${fields}    proxy_buffering off;
    proxy_request_buffering off;
    proxy_buffer_size ${buffer};
    proxy_buffers 8 32k;
    # Lua decides what is compressed: it rewrites the request's Accept-Encoding.
    gzip on;
    gzip_types *;
    gzip_proxied any;
    gzip_min_length 0;
    gzip_comp_level 5;
${host.capabilities.brotli && brotli}    proxy_ssl_server_name on;
    proxy_ssl_name $o_name;
    proxy_ssl_protocols TLSv1.2 TLSv1.3;
    proxy_ssl_session_reuse off;
    # Our client certificate for origins that require one. Lua sets both variables; most requests have none.
    proxy_ssl_certificate $o_chain;
    proxy_ssl_certificate_key $o_key;
    # An origin must not steer us.
    proxy_ignore_headers X-Accel-Redirect X-Accel-Expires X-Accel-Limit-Rate X-Accel-Buffering X-Accel-Charset;
${hiddenFields}    proxy_hide_header X-E-Image;
    proxy_hide_header X-E-Relay;
    proxy_hide_header X-E-Unbuffered;
    proxy_pass_header Date;
    proxy_pass_header Server;
    proxy_next_upstream error timeout http_502 http_504;

    location / {
        proxy_pass ${pass}$o_uri;
    }
    # For origins whose certificate must be valid for the requested name. Without authorities none is valid.
    location @verified {
        proxy_ssl_verify on;
        proxy_ssl_verify_depth 4;
        proxy_ssl_trusted_certificate ${host.caBundle ?? `${host.dir}/keys/fallback.pem`};
        proxy_pass ${pass}$o_uri;
    }
`;

/** When the image service does not respond, hop B answers without it. */
const imageService = (dir: string) => conf`upstream images {
    server ${`unix:${dir}/run/images.sock`} max_fails=0;
    server ${`unix:${dir}/run/hop.sock`} backup;
}
`;

/** Hop B already decided about this response. It passes to hop A unchanged. */
const images = (luaDir: string) => conf`    location @image {
        access_by_lua_block { return }
        header_filter_by_lua_file ${`${luaDir}/edge/phases/image_header.lua`};
        gzip off;
        proxy_set_header Host $host;
        proxy_set_header Connection "";
        proxy_set_header X-E-Image 1;
        proxy_pass_header Date;
        proxy_pass_header Server;
        proxy_pass_header X-Accel-Expires;
        proxy_pass_header X-Accel-Buffering;
        proxy_pass_header X-E-CC;
        proxy_pass_header X-E-V;
        proxy_pass_header X-E-Birth;
        proxy_pass_header X-E-Recipe;
        proxy_pass_header X-E-Hide;
        proxy_pass_header X-E-Browser;
        proxy_pass_header X-E-Tags;
        proxy_pass_header X-E-Up;
        proxy_pass_header X-E-Image;
        # The origin's timeouts apply to the request that it receives.
        proxy_connect_timeout 1s;
        proxy_read_timeout 2h;
        proxy_next_upstream error timeout invalid_header;
        proxy_pass http://images;
    }
`;

/** A relay does not use relays. */
const asksRelays = (zone: ZoneDoc, node: NodeDoc | null) =>
  (zone.relays ?? []).length > 0 && node?.relayPort === undefined;

const relayUpstream = conf`map "" $o_relay { default ""; }
# Lua may write only what some directive reads.
map $o_relay $o_unused { default ""; }
map "" $o_documents { default ""; }
map "" $o_fresh { default ""; }
# Every connection in it is to a relay of this zone, verified and under one name, so they may be shared.
upstream relay {
    server 0.0.0.1;
    balancer_by_lua_block { edge.relay_balancer() }
    keepalive 64;
    keepalive_timeout 55s;
}
`;

/** Passes hop A's fields to the relay's hop B, without those that control this node's cache. */
const relayLocations = ({ dir, luaDir }: HostFacts) => conf`    location @relay {
        access_by_lua_file ${`${luaDir}/edge/phases/to_relay.lua`};
        proxy_set_header Host $host;
        proxy_set_header Connection "";
        proxy_set_header X-E-Key "";
        proxy_set_header X-E-Version "";
        proxy_set_header X-E-State "";
        proxy_set_header X-E-Vary "";
        proxy_set_header X-E-Slice "";
        proxy_set_header X-E-Image "";
        proxy_set_header X-E-Round "";
        proxy_set_header X-E-Method "";
        proxy_set_header X-E-Documents $o_documents;
        proxy_set_header X-E-Fresh $o_fresh;
        proxy_set_header X-E-Rate "";
        proxy_ssl_certificate ${`${dir}/keys/relay.pem`};
        proxy_ssl_certificate_key ${`${dir}/keys/relay.key`};
        proxy_ssl_verify on;
        proxy_ssl_trusted_certificate ${`${dir}/keys/relay.pem`};
        proxy_ssl_name ${ZONE_NAME};
        proxy_ssl_session_reuse on;
        proxy_next_upstream error timeout;
        # 597: the relay has other documents. If an origin itself responds so, the request is repeated from here.
        proxy_intercept_errors on;
        error_page 502 504 597 = @origin;
        proxy_pass https://relay;
    }
    location @origin {
        proxy_pass $o_scheme://$o_pool$o_uri;
    }
`;

const brotli = conf`    brotli on;
    brotli_types *;
    brotli_min_length 0;
    brotli_comp_level 5;
`;
