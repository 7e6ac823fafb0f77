// Cache directives and locations that edge nodes and relays share.
import { conf } from './conf.ts';
import type { Conf } from './conf.ts';

/** nginx stores a cached file's body offset in 16 bits, so a larger buffer would corrupt files with long headers. */
export const buffers = conf`    proxy_buffer_size 65535;
    proxy_buffers 16 32k;
`;

/** Private response fields from one hop to the previous one. */
export const hiddenFields = conf`    proxy_hide_header X-E-CC;
    proxy_hide_header X-E-V;
    proxy_hide_header X-E-Birth;
    proxy_hide_header X-E-Recipe;
    proxy_hide_header X-E-Hide;
    proxy_hide_header X-E-Browser;
    proxy_hide_header X-E-Tags;
    proxy_hide_header X-E-Up;
    proxy_hide_header X-E-Turn;
    proxy_hide_header X-E-Length;
`;

/** Hop B's largest header plus the fields that hop B adds. */
const longHeader = conf`        proxy_buffer_size 80k;
`;

/** Cache directives shared by all cached locations. */
export const store = conf`        proxy_cache edge;
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

/**
 * Slices use nginx's cache lock, everything else cache/leaders.lua. The timeout also applies to a slice that cannot be
 * stored or whose worker was killed.
 */
export const piecesLock = conf`        proxy_cache_lock on;
        proxy_cache_lock_timeout 15s;
        proxy_cache_lock_age 15s;
`;

/**
 * Large files: nginx fetches slices in sequence and caches each separately. The size is also SLICE_BYTES in
 * cache/auto_slices.lua.
 */
export const slices = (upstream: Conf, fields: Conf, pieces: Conf) => conf`    location @slice {
        slice 1m;
${fields}        proxy_set_header Range $slice_range;
        proxy_set_header X-E-Slice $slice_range;
        proxy_cache_key $e_key$slice_range;
${store}        proxy_ignore_headers Expires Set-Cookie X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset;
${pieces}        proxy_pass http://${upstream}$e_uri;
    }
`;

/** Hop B redirects here when another request fetches the response: wait, then look into the cache again. */
export const waiting = (luaDir: string, upstream: Conf, more: Conf | false) => conf`    location @wait {
        rewrite_by_lua_file ${`${luaDir}/edge/phases/wait.lua`};
        proxy_cache_key $e_key;
${collapsingStore}${more}        error_page 502 = @again;
        proxy_pass http://${upstream}$e_uri;
    }
`;

/** Locations for requests that bypass the cache. */
export const bypassCache = (once: Conf) => conf`    location @again {
        set $e_again "AGAIN ";
${longHeader}        proxy_ignore_headers X-Accel-Expires Expires Set-Cookie X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset;
        proxy_pass http://${once}$e_uri;
    }
    # Not for the store: unsafe methods, sockets, and what is known to be uncacheable.
    location @pass {
        proxy_buffering off;
        # For responses whose rate is limited. Small, since a slow visitor occupies all of them.
        proxy_buffers 4 32k;
        proxy_busy_buffers_size 80k;
        # Longer than hop B waits for a silent WebSocket, at most.
        proxy_read_timeout 25h;
${longHeader}        proxy_ignore_headers X-Accel-Expires Expires Set-Cookie X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset;
        proxy_pass http://${once}$e_uri;
    }
`;
