import { conf, luaText } from './conf.ts';
import type { Conf } from './conf.ts';
import { hasHttp3 } from './http3.ts';
import { portsOf } from './listeners-conf.ts';
import type { HostFacts, RenderInput } from './input.ts';
import { withSnippet } from './snippets.ts';

/** The main file: process settings, directives shared by all servers, and Lua's shared dictionaries. */
export const nginxConf = (input: RenderInput): Conf => conf`${modulesAndUser(input)}${withSnippet(
  input.snippets,
  'main',
  main(input),
)}
events {
${withSnippet(
  input.snippets,
  'events',
  conf`    worker_connections ${input.zone.worker.connections};
`,
)}}

http {
${withSnippet(input.snippets, 'shared', shared(input))}
    include log.conf;
    include listeners.conf;
    include hop.conf;
    include admin.conf;
    include simulate.conf;
}
`;

const modulesAndUser = ({ host }: RenderInput) =>
  conf`${host.capabilities.modules.map(
    (path) => conf`load_module ${path};\n`,
  )}${host.user !== null && conf`user ${host.user};\n`}`;

const main = ({
  zone,
  host,
}: RenderInput) => conf`worker_processes ${zone.worker.processes === 0 ? conf`auto` : zone.worker.processes};
worker_rlimit_nofile ${Math.min(zone.worker.connections * 2 + OPEN_FILES + 1024, 1_048_576)};
# Long enough for downloads and sockets that were open before a reload to end.
worker_shutdown_timeout 4h;
pid ${`${host.dir}/run/nginx.pid`};
error_log ${`${host.dir}/logs/error.log`} warn;
pcre_jit on;
${hasHttp3(zone, host.capabilities) && conf`# Old workers keep their visitors' connections.\nquic_bpf on;\n`}`;

/** Directives shared by all servers. */
const shared = ({ zone, node, generation, host }: RenderInput) => conf`    server_tokens off;
    sendfile on;
    tcp_nopush on;
    # Sends the first kilobyte of a slow response. With 0 the header of each hit would be a separate packet.
    postpone_output 1024;
    # Keeps files of frequent objects open: opening a file is a fifth of the cost of a hit. nginx compares inodes, so a
    # replaced object is never served from the old file.
    open_file_cache max=${OPEN_FILES} inactive=30s;
    open_file_cache_min_uses 2;
    types_hash_max_size 2048;
    default_type application/octet-stream;
${
  host.hasDemoVisitors === true &&
  conf`    # Hop B is reached by a socket of the file system, so these are visitors.
    set_real_ip_from 127.0.0.1;
    real_ip_header X-Demo-Visitor;
`
}    variables_hash_max_size 2048;
    map_hash_bucket_size 256;
    reset_timedout_connection on;
    client_body_temp_path ${`${host.dir}/tmp/body`};
    proxy_temp_path ${`${host.dir}/tmp/proxy`};
    fastcgi_temp_path ${`${host.dir}/tmp/fastcgi`};
    uwsgi_temp_path ${`${host.dir}/tmp/uwsgi`};
    scgi_temp_path ${`${host.dir}/tmp/scgi`};

    lua_package_path ${`${host.luaDir}/?.lua;;`};
    lua_regex_match_limit 100000;
    lua_regex_cache_max_entries 8192;
    lua_socket_log_errors off;
    # docs: documents as read from disk. absent: names that have none; may evict, so that made-up names push out
    # nothing else. changes: which documents changed, and counters. marks: the number of each change. urls: purges of
    # single URLs. peers: health of origins. names: addresses of origins. simulated: simulated requests in progress.
    # blocks: addresses that the zone blocks for a while. anti_cc: request rates; evicts, and clients without room get a
    # challenge. leaders: requests to origins that others wait for. limits: visitors'
    # running requests and large fetches; evicts. limits_N: requests of visitors in windows of up to N seconds, for the
    # limits of sites, crawlers and robots.txt; evicts. bots: which addresses of search engines and other bots are
    # genuine.
    lua_shared_dict docs 256m;
    lua_shared_dict absent 8m;
    lua_shared_dict changes 4m;
    lua_shared_dict marks 16m;
    lua_shared_dict urls 64m;
    lua_shared_dict peers 8m;
    lua_shared_dict names 8m;
    lua_shared_dict simulated 4m;
    lua_shared_dict blocks 32m;
    lua_shared_dict anti_cc 64m;
    lua_shared_dict leaders 8m;
    lua_shared_dict limits 32m;
    lua_shared_dict limits_10 64m;
    lua_shared_dict limits_60 64m;
    lua_shared_dict limits_600 64m;
    lua_shared_dict limits_3600 64m;
    lua_shared_dict bots 4m;
    init_by_lua_block { require("edge.init").start(${luaText(
      JSON.stringify({
        dir: host.dir,
        generation,
        resolvers: host.resolvers,
        connections: zone.worker.connections,
        poolPerName: host.capabilities.poolPerName,
        slices: host.capabilities.slice,
        brotli: host.capabilities.brotli,
        webp: host.capabilities.webp && node?.relayPort === undefined,
        ports: portsOf(zone),
        relay: node?.relayPort !== undefined,
        cache_inactive: zone.cache.inactiveSeconds,
        ...(node !== null && { node: node.id }),
        // The kernel sees the addresses of proxies, so nginx applies the zone's lists to visitors.
        ...((host.refuses === true || zone.visitorAddress !== undefined) && { refuses: true }),
        ...(host.cacheReserveBytes !== undefined && { cache_reserve: host.cacheReserveBytes }),
        ...(zone.ipset && node?.relayPort === undefined && { blocks: zone.ipset }),
        ...(zone.off?.includes('compression') === true && { compression: false }),
      }),
    )}) }
    init_worker_by_lua_block { edge.init_worker() }
    exit_worker_by_lua_block { edge.exit_worker() }

    proxy_cache_path ${`${host.dir}/cache/objects`} levels=1:2 keys_zone=edge:${Math.max(zone.cache.keyBytes, MIN_KEY_BYTES)}${maxSize(cacheBytes(zone, node))}${minFree(host)} inactive=${Math.max(zone.cache.inactiveSeconds, 60)}s use_temp_path=off;
`;

/** Open files of the cache, per worker. */
const OPEN_FILES = 4096;

/** nginx refuses smaller zones. */
const MIN_KEY_BYTES = 1 << 20;

/** 0 means no limit, while nginx would read max_size=0 as no space. */
const maxSize = (bytes: number) => conf`${bytes > 0 && conf` max_size=${bytes}`}`;

/**
 * nginx evicts the least recently used files below this free space. lua/edge/cache/disk.lua resumes storing above it.
 */
const minFree = ({ capabilities, cacheReserveBytes }: HostFacts) =>
  capabilities.minFree && cacheReserveBytes !== undefined && conf` min_free=${2 * cacheReserveBytes}`;

const cacheBytes = (zone: RenderInput['zone'], node: RenderInput['node']) =>
  node === null || node.cacheMaxBytes === 0 ? zone.cache.maxBytes : node.cacheMaxBytes;
