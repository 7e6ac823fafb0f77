// The locations of hop A that serve visitors, real and simulated ones.
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { buffers, bypassCache, collapsingStore, hiddenFields, slices, store, waiting } from './cache-conf.ts';
import { conf } from './conf.ts';
import type { Conf } from './conf.ts';
import type { HostFacts } from './input.ts';

/** The next hop of hop A, and the Lua phases that run. */
export type Hop = {
  access: string;
  headerFilter: string;
  /** Whether Lua runs in the log phase. */
  hasLogPhase: boolean;
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
  { access, headerFilter, hasLogPhase, upstream, once, fields, store: more, pieces, pages }: Hop,
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
${hasLogPhase && conf`    log_by_lua_file ${`${host.luaDir}/edge/phases/log.lua`};\n`}${pages && errorPages(host.luaDir)}
    # The name that private request fields begin with is X-E-; each is overwritten here and emptied in hop B.
    proxy_http_version 1.1;
${requestFields}${fields}    proxy_set_header X-E-Slice "";
    # The time limits are the origin's, and hop B keeps them.
    proxy_connect_timeout 5s;
    proxy_send_timeout 2h;
    proxy_read_timeout 2h;
${buffers}    # What is buffered and not stored waits for the visitor in memory, not on the disk of the cache.
    proxy_max_temp_file_size 0;
    proxy_request_buffering off;
    proxy_next_upstream off;
    proxy_pass_header Date;
    proxy_pass_header Server;
    # Stored are the fields that steer this store; sent are the origin's own.
    proxy_hide_header Cache-Control;
    proxy_hide_header Vary;
${hiddenFields}    proxy_hide_header X-Request-Id;
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
${collapsingStore}${more}        # Hop B closed without a response and nothing stale was allowed: another request gets the origin's own error.
        error_page 502 = @again;
${pages && ownErrorsHere}        proxy_pass http://${upstream};
    }
    # For requests whose URI Lua has changed. A variable in every proxy_pass would cost each hit.
    location @signed {
        proxy_cache_key $e_key;
${collapsingStore}${more}        error_page 502 = @again;
${pages && ownErrorsHere}        proxy_pass http://${upstream}$e_uri;
    }
    # The last request of a connection before nginx reloads. HTTP/2 and HTTP/3 announce the end themselves.
    location @last {
        keepalive_timeout 0;
        access_by_lua_file ${`${host.luaDir}/edge/phases/${access}.lua`};
        proxy_cache_key $e_key;
${collapsingStore}${more}        error_page 502 = @again;
${pages && ownErrorsHere}        proxy_pass http://${upstream}$e_uri;
    }
${waiting(host.luaDir, upstream, conf`${more}${pages && ownErrorsHere}`)}${host.capabilities.slice && slices(upstream, conf`${requestFields}${fields}`, conf`${pieces}${pages && slicePages}`)}${post(once)}${bypassCache(once)}`;

/** Stores the response to a POST for later GETs. A POST is never answered from the cache. */
const post = (once: Conf) => conf`    location @post {
        proxy_cache_key $e_key;
${store}        proxy_ignore_headers Expires Set-Cookie X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset;
        proxy_cache_methods POST;
        proxy_cache_bypass 1;
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
    proxy_set_header X-E-Image "";
    proxy_set_header X-E-Round $e_round;
    proxy_set_header X-E-Method $request_method;
    proxy_set_header X-E-Documents "";
    proxy_set_header X-E-Fresh "";
    # Hop B asks for buffering (X-Accel-Buffering) where this is not 0.
    proxy_set_header X-E-Rate $limit_rate;
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
