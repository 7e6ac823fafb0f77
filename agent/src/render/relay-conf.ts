import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { buffers, bypassCache, collapsingStore, hiddenFields, piecesLock, slices, waiting } from './cache-conf.ts';
import { conf } from './conf.ts';
import type { HostFacts } from './input.ts';

/**
 * A relay's only listener. Edge nodes authenticate by the zone's certificate and pass on the visitor's facts.
 * Fields that control the edge node's cache come back in the response.
 */
export const relayServer = (
  port: number,
  zone: ZoneDoc,
  { dir, luaDir, listen, capabilities }: HostFacts,
) => conf`server {
${listen.map((address) => conf`    listen ${`${address}:${port}`} ssl default_server backlog=4096;\n`)}    server_name _;
    access_log ${`${dir}/logs/access.json`} relay buffer=64k flush=1s;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_certificate ${`${dir}/keys/relay.pem`};
    ssl_certificate_key ${`${dir}/keys/relay.key`};
    ssl_client_certificate ${`${dir}/keys/relay.pem`};
    # Other certificates are refused in Lua, like requests without one.
    ssl_verify_client optional_no_ca;
    ssl_verify_depth 1;
    ssl_session_cache shared:relay:4m;
    client_max_body_size ${zone.maxBodyBytes};
    client_header_buffer_size 4k;
    large_client_header_buffers 8 64k;
    client_header_timeout 15s;
    send_timeout 2h;
    # Must outlive the connections that edge nodes keep.
    keepalive_timeout 70s;
    keepalive_requests 1000000;
    absolute_redirect off;

    header_filter_by_lua_file ${`${luaDir}/edge/phases/relay_header.lua`};
    proxy_http_version 1.1;
${fields}    proxy_set_header X-E-Slice "";
    proxy_connect_timeout 5s;
    proxy_send_timeout 2h;
    proxy_read_timeout 2h;
${buffers}    proxy_next_upstream off;
    proxy_pass_header Date;
    proxy_pass_header Server;
    proxy_hide_header Cache-Control;
    proxy_hide_header Vary;
${hiddenFields}    add_header Cache-Control $e_cache_control always;
    add_header Vary $upstream_http_x_e_v always;

    location / {
        access_by_lua_file ${`${luaDir}/edge/phases/relay_access.lua`};
        proxy_cache_key $e_key;
${collapsingStore}        error_page 502 = @again;
        proxy_pass http://hop;
    }
${waiting(luaDir, conf`hop`, false)}${capabilities.slice && slices(conf`hop`, fields, piecesLock)}${bypassCache(conf`hop_once`)}}
`;

/** The visitor's facts, as the edge node sent them. */
const fields = conf`    proxy_set_header Host $host;
    proxy_set_header Connection "";
    proxy_set_header X-E-Key $e_key;
    proxy_set_header X-E-Version $e_version;
    proxy_set_header X-E-State "$e_again$upstream_cache_status";
    proxy_set_header X-E-Image "";
    proxy_set_header X-E-Round $e_round;
    proxy_set_header X-E-Documents "";
    proxy_set_header X-E-Fresh "";
    proxy_set_header Accept-Encoding $e_accept;
`;
