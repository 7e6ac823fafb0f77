// Rows of the access log `t` as LogRow, with the names that things have now.
import { sql } from '../core/sql.ts';
import { MONITOR } from '../statistics/traffic.ts';
import { wafRule } from './waf-rule.ts';

export const columns = sql`replace(t.id::text, '-', '') AS id, t.at AS time, s.id AS "siteID", coalesce(s.name, '') AS "siteName", d.id AS "domainID",
  coalesce(d.name, '') AS domain, t.node_id AS "nodeID", coalesce(n.name, '') AS "nodeName", t.host, t.port,
  host(t.address) AS address, t.country, t.method, t.scheme, t.http_version AS "httpVersion", t.uri, t.args, t.status,
  t.bytes::float8 AS bytes, t.request_bytes::float8 AS "requestBytes", t.request_time AS "requestTime",
  t.upstream_time AS "upstreamTime", t.upstream, t.cache AS "cacheStatus", t.user_agent AS "userAgent", t.referer, t.cause, t.rule`;
export const explanation = sql`t.waf AS explanation, ${wafRule} AS "wafRule"`;
/** Names of access rules and scripts, which may be removed since. `monitor/<id>` only logged. */
export const ruleName = sql`CASE t.cause
  WHEN 'acl' THEN (SELECT r->>'name' FROM modules m, jsonb_array_elements(m.settings->'rules') r
    WHERE m.site_id = t.site_id AND m.kind = 'acl' AND r->>'id' = regexp_replace(t.rule, '^.*/', '') LIMIT 1)
  WHEN 'luaAcl' THEN (SELECT m.name FROM modules m
    WHERE m.site_id = t.site_id AND m.kind = 'luaAcl' AND m.id::text = regexp_replace(t.rule, '^.*/', ''))
  END AS "ruleName"`;
/** How the log names these rules: each as one that decided, and as one that only monitored. */
export const loggedRules = (ids: readonly string[]): string[] =>
  ids.flatMap((id) => (id.startsWith(MONITOR) ? [id] : [id, `${MONITOR}${id}`]));
/** The site of a request of no known site is its zone. */
export const joins = sql`LEFT JOIN sites s ON s.id = t.site_id
  LEFT JOIN domains d ON d.id = t.domain_id AND d.site_id = t.site_id
  LEFT JOIN nodes n ON n.id = t.node_id AND n.zone_id = coalesce(s.zone_id, t.site_id)`;
