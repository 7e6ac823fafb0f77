import { conf } from './conf.ts';
import type { Conf } from './conf.ts';
import type { RenderInput } from './input.ts';

/** Parts of a line that a site may mask. */
const plain = { address: conf`$remote_addr`, args: conf`$args`, referer: conf`$http_referer` };
const masked = { address: conf`$e_log_address`, args: conf`$e_log_args`, referer: conf`$e_log_referer` };

/**
 * The access log: one JSON object per line. Values that nginx shows as a list or omits are strings.
 * `cause` and `rule` name what refused the request, and `trail` what else decided (lua/edge/core/trails.lua). `waf`
 * explains what the firewall found (lua/edge/waf/explain.lua). `isPreheat`: the node's own prefetch, which no bill has.
 * Lines that are not masked do not evaluate the maps of masks.
 */
export const logConf = ({
  node,
  host,
}: RenderInput) => conf`${edgeFormat(conf`edge`, plain)}${edgeFormat(conf`masked`, masked)}${node?.relayPort !== undefined && relayFormat}access_log ${`${host.dir}/logs/access.json`} edge buffer=64k flush=1s if=$e_unmasked;
access_log ${`${host.dir}/logs/access.json`} masked buffer=64k flush=1s if=$e_mask;

# The origin's address of a stored response is old, so it is logged for fetched responses only. After a 304, nginx has
# the fields of the stored response.
map $upstream_cache_status $e_upstream {
    default $upstream_http_x_e_up;
    HIT "";
    STALE "";
    UPDATING "";
    REVALIDATED "";
}
# 499: the visitor left before the response ended, or before the request's body ended.
# 444: there was no response, for example to oversized fields of HTTP/2. nginx's $status is then 000, which is not JSON;
# for HTTP/0.9 it is 009. The usual values are compared first.
map "$e_completion $status" $e_status {
    default $status;
    "OK 200" 200;
    "OK 206" 206;
    "OK 304" 304;
    "~^ (?:[23]|400)" 499;
    "~ 0" 444;
}
# Written by Lua for nginx's own errors (own_errors.lua).
map $request_completion $e_completion { default $request_completion; }
map "" $e_method { default $request_method; }
map $e_mask $e_unmasked {
    default 0;
    "" 1;
}
map $e_mask $e_log_address {
    default $e_network;
    query $remote_addr;
}
map $e_mask $e_log_args {
    default "";
    address $args;
}
map $e_mask $e_log_referer {
    default $e_referer_path;
    address $http_referer;
}
${networkMap}map $http_referer $e_referer_path {
    default "";
    "~^(?<e_before_query>[^?#]*)" $e_before_query;
}
`;

/** The visitor's network: 24 bits of IPv4, 48 of IPv6. nginx compresses zeros of IPv6. */
export const networkMap = conf`map $remote_addr $e_network {
    default "::";
    "~^(?<e_three>[0-9]+[.][0-9]+[.][0-9]+)[.][0-9]+$" $e_three.0;
    "~^(?<e_few_groups>[0-9a-f]+(:[0-9a-f]+)?)::" $e_few_groups::;
    "~^(?<e_groups>[0-9a-f]+:[0-9a-f]+:[0-9a-f]+):" $e_groups::;
}
`;

function edgeFormat(name: Conf, { address, args, referer }: typeof plain) {
  return conf`log_format ${name} escape=json
    '{"time":$msec,"id":"$request_id","site":"$e_site","domain":"$e_domain","host":"$host","port":$server_port,'
    '"address":"${address}","method":"$e_method","scheme":"$scheme","httpVersion":"$server_protocol",'
    '"uri":"$uri","args":"${args}","status":$e_status,"bytes":$bytes_sent,"requestBytes":$request_length,'
    '"requestTime":$request_time,"upstreamTime":"$upstream_response_time","upstream":"$e_upstream",'
    '"cache":"$upstream_cache_status","userAgent":"$http_user_agent","referer":"${referer}",'
    '"cause":"$e_cause","rule":"$e_rule","trail":"$e_trail","waf":"$e_waf","isPreheat":$e_preheat}';
`;
}

/** A relay's log: requests of edge nodes, with the visitor they were made for. */
const relayFormat = conf`log_format relay escape=json
    '{"time":$msec,"relayed":true,"id":"$http_x_request_id","site":"$e_site","domain":"$e_domain","host":"$host","port":$server_port,'
    '"node":"$remote_addr","address":"$http_x_e_address","method":"$request_method","uri":"$uri","args":"$args",'
    '"status":$e_status,"bytes":$bytes_sent,"requestTime":$request_time,"upstreamTime":"$upstream_response_time",'
    '"upstream":"$e_upstream","cache":"$upstream_cache_status"}';
`;
