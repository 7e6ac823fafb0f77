// The firewall's rule of a row of the access log `t`, as it is in the column `rule` if no later rule refused the
// request: `monitor/<id>` only monitored. Both stores read it alike.
import { sql, type Sql } from '../core/sql.ts';
import { MONITOR } from '../statistics/traffic.ts';

/** The first rule of a node's explanation, which may be no JSON. */
const FIRST_RULE = String.raw`"rules":\[\{[^{}]*"id":"([^"]*)"`;

export const wafRule = sql`CASE WHEN t.cause = 'waf' THEN t.rule
  ELSE ${MONITOR}::text || coalesce(substring(t.waf FROM ${FIRST_RULE}::text), '') END`;
export const wafRuleInClickHouse: Sql = sql`if(t.cause = 'waf', t.rule, concat(${MONITOR}, extract(t.waf, ${FIRST_RULE})))`;
