import { conf } from './conf.ts';
import { hopB } from './hop-conf.ts';
import { hopA } from './hop-a-conf.ts';
import type { RenderInput } from './input.ts';

/**
 * Both hops again, for simulated requests. They share the real cache without reading or writing it, and their origin
 * only records requests. The socket folder's permissions decide who may use them.
 */
export const simulateConf = ({ zone, node, host, snippets }: RenderInput) => conf`map "" $e_trace { default ""; }
upstream simulated_hop {
    server ${`unix:${host.dir}/run/simulated-hop.sock`};
}
upstream simulated_origin {
    server ${`unix:${host.dir}/run/simulated-origin.sock`};
}
${node?.enabled !== false && host.capabilities.realip && servers(zone, host, snippets)}`;

const servers = (
  zone: RenderInput['zone'],
  host: RenderInput['host'],
  snippets: RenderInput['snippets'],
) => conf`server {
    listen ${`unix:${host.dir}/run/simulate.sock`};
    server_name _;
${quiet}    # The simulation chooses the visitor's address.
    set_real_ip_from unix:;
    real_ip_header X-E-Client;
${hopA(zone, host, {
  access: 'simulate_access',
  headerFilter: 'simulate_header',
  hasLogPhase: false,
  upstream: conf`simulated_hop`,
  once: conf`simulated_hop`,
  fields: trace,
  store: conf`        proxy_no_cache 1;\n`,
  pieces: conf`        proxy_no_cache 1;\n`,
  pages: false,
})}}

server {
    listen ${`unix:${host.dir}/run/simulated-hop.sock`};
    server_name _;
${quiet}${hopB(host, snippets, {
  access: 'simulate_origin_access',
  headerFilter: 'simulate_origin_header',
  hasLogPhase: false,
  fields: trace,
  pass: conf`http://simulated_origin`,
})}}

server {
    listen ${`unix:${host.dir}/run/simulated-origin.sock`};
    server_name _;
${quiet}    client_max_body_size 0;
    large_client_header_buffers 8 64k;
    # Responds exactly as Lua orders.
    lua_use_default_type off;
    location / {
        content_by_lua_file ${`${host.luaDir}/edge/phases/simulate_origin.lua`};
    }
}
`;

/** Only the header is read, so it is sent as soon as it is known. */
const quiet = conf`    access_log off;
    error_log /dev/null emerg;
    postpone_output 0;
`;

const trace = conf`    proxy_set_header X-E-Trace $e_trace;
`;
