import type { Env } from '../core/env.ts';
import type { AccessLog } from './access-log.ts';
import { ClickHouse } from './clickhouse-client.ts';
import { clickHouseAccessLog } from './clickhouse.ts';
import { postgresAccessLog } from './postgres.ts';

interface Opened {
  log: AccessLog;
  /** Null: requests are in PostgreSQL. */
  clickHouse: ClickHouse | null;
}
const opened = new WeakMap<Env, Opened>();

/** One client for each environment. */
function open(env: Env): Opened {
  const known = opened.get(env);
  if (known) return known;
  const { CLICKHOUSE_URL: url, CLICKHOUSE_CLUSTER: cluster, ACCESS_LOG_DAYS: days } = env;
  const clickHouse = url === undefined ? null : new ClickHouse(url, { cluster, days });
  const found = { log: clickHouse ? clickHouseAccessLog(clickHouse) : postgresAccessLog, clickHouse };
  opened.set(env, found);
  return found;
}

/** In ClickHouse if CLICKHOUSE_URL is set, else in PostgreSQL. */
export const accessLogOf = ({ env }: { env: Env }): AccessLog => open(env).log;
export const clickHouseOf = ({ env }: { env: Env }): ClickHouse | null => open(env).clickHouse;
