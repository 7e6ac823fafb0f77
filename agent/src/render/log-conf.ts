import { conf } from './conf.ts';
import type { RenderInput } from './render.ts';

/**
 * The access log: one JSON object a line. What nginx may show as a list (several tries) or not at all is a string. `cause`
 * and `rule`: what refused the request, and by which of the tenant's rules.
 */
export const logConf = ({ node, host }: RenderInput) => conf`log_format edge escape=json
    '{"time":$msec,"id":"$request_id","site":"$e_site","domain":"$e_domain","host":"$host","port":$server_port,'
    '"address":"$remote_addr","method":"$request_method","scheme":"$scheme","httpVersion":"$server_protocol",'
    '"uri":"$uri","args":"$args","status":$status,"bytes":$bytes_sent,"requestBytes":$request_length,'
    '"requestTime":$request_time,"upstreamTime":"$upstream_response_time","upstream":"$e_upstream",'
    '"cache":"$upstream_cache_status","userAgent":"$http_user_agent","referer":"$http_referer",'
    '"cause":"$e_cause","rule":"$e_rule"}';
${node?.relayPort !== undefined && relayFormat}access_log ${`${host.dir}/logs/access.json`} edge buffer=64k flush=1s;

# Of a stored response the address is of the day that it was fetched, so only what was asked now is logged.
map $upstream_cache_status $e_upstream {
    default $upstream_http_x_e_up;
    HIT "";
    STALE "";
    UPDATING "";
}
`;

/** Of a relay: what edge nodes asked it, for which visitor; no visit of its own. */
const relayFormat = conf`log_format relay escape=json
    '{"time":$msec,"relayed":true,"id":"$http_x_request_id","site":"$e_site","domain":"$e_domain","host":"$host","port":$server_port,'
    '"node":"$remote_addr","address":"$http_x_e_address","method":"$request_method","uri":"$uri","args":"$args",'
    '"status":$status,"bytes":$bytes_sent,"requestTime":$request_time,"upstreamTime":"$upstream_response_time",'
    '"upstream":"$e_upstream","cache":"$upstream_cache_status"}';
`;
