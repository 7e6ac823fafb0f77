import { conf } from './conf.ts';
import type { RenderInput } from './input.ts';

/**
 * The access log: one JSON object per line. Values that nginx shows as a list or omits are strings.
 * `cause` and `rule` name what refused the request.
 */
export const logConf = ({ node, host }: RenderInput) => conf`log_format edge escape=json
    '{"time":$msec,"id":"$request_id","site":"$e_site","domain":"$e_domain","host":"$host","port":$server_port,'
    '"address":"$remote_addr","method":"$request_method","scheme":"$scheme","httpVersion":"$server_protocol",'
    '"uri":"$uri","args":"$args","status":$status,"bytes":$bytes_sent,"requestBytes":$request_length,'
    '"requestTime":$request_time,"upstreamTime":"$upstream_response_time","upstream":"$e_upstream",'
    '"cache":"$upstream_cache_status","userAgent":"$http_user_agent","referer":"$http_referer",'
    '"cause":"$e_cause","rule":"$e_rule"}';
${node?.relayPort !== undefined && relayFormat}access_log ${`${host.dir}/logs/access.json`} edge buffer=64k flush=1s;

# The origin's address of a stored response is old, so it is logged for fetched responses only.
map $upstream_cache_status $e_upstream {
    default $upstream_http_x_e_up;
    HIT "";
    STALE "";
    UPDATING "";
}
`;

/** A relay's log: requests of edge nodes, with the visitor they were made for. */
const relayFormat = conf`log_format relay escape=json
    '{"time":$msec,"relayed":true,"id":"$http_x_request_id","site":"$e_site","domain":"$e_domain","host":"$host","port":$server_port,'
    '"node":"$remote_addr","address":"$http_x_e_address","method":"$request_method","uri":"$uri","args":"$args",'
    '"status":$status,"bytes":$bytes_sent,"requestTime":$request_time,"upstreamTime":"$upstream_response_time",'
    '"upstream":"$e_upstream","cache":"$upstream_cache_status"}';
`;
