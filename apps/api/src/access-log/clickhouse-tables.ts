// The table of requests in ClickHouse.
import { accessLogColumns } from '../statistics/access-log.ts';

export interface ClickHouseSettings {
  /** Replicas of one shard. Undefined: a single server. */
  cluster: string | undefined;
  /** How long rows are kept. */
  days: number;
}

/** Inserts remembered for deduplication. Only the last one can be repeated. */
const DEDUPLICATED_INSERTS = 1000;
/** A server that was away this long still recognizes a repeated insert. */
const DEDUPLICATION_SECONDS = 30 * 86_400;

/** As in PostgreSQL, the shipment that inserted the row, and the number of the row in it. */
export const columnNames = [...accessLogColumns, 'shipment', 'number'];

/** Statements that may run again at any time. Request IDs are text, because UUIDs of ClickHouse sort differently. */
export function tableStatements({ cluster, days }: ClickHouseSettings): string[] {
  const onCluster = cluster === undefined ? '' : ` ON CLUSTER ${cluster}`;
  const engine =
    cluster === undefined
      ? 'MergeTree'
      : "ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/access_log', '{replica}')";
  const deduplication =
    cluster === undefined
      ? `non_replicated_deduplication_window = ${DEDUPLICATED_INSERTS}`
      : `replicated_deduplication_window = ${DEDUPLICATED_INSERTS}, replicated_deduplication_window_seconds = ${DEDUPLICATION_SECONDS}`;
  const ttl = `toDateTime(at) + toIntervalDay(${Math.max(1, days)})`;
  return [
    `CREATE TABLE IF NOT EXISTS access_log${onCluster} (
      at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)), id String CODEC(ZSTD(1)), site_id UUID, domain_id UUID, node_id UUID,
      status UInt16, port UInt16, bytes UInt64, request_bytes UInt64, request_time Int32, upstream_time Nullable(Int32),
      address String CODEC(ZSTD(1)), country LowCardinality(String), province LowCardinality(String), isp LowCardinality(String),
      host LowCardinality(String), method LowCardinality(String), scheme LowCardinality(String),
      http_version LowCardinality(String), uri String CODEC(ZSTD(1)), args String CODEC(ZSTD(1)), upstream LowCardinality(String),
      cache LowCardinality(String), user_agent String CODEC(ZSTD(1)), referer String CODEC(ZSTD(1)),
      cause LowCardinality(String), rule LowCardinality(String), trail String CODEC(ZSTD(1)), weight UInt32, waf String CODEC(ZSTD(1)), shipment UUID, number UInt32 CODEC(ZSTD(1)),
      INDEX by_id id TYPE bloom_filter(0.001) GRANULARITY 1
    ) ENGINE = ${engine} PARTITION BY toDate(at) ORDER BY (site_id, at, id) TTL ${ttl}
    SETTINGS ttl_only_drop_parts = 1, ${deduplication}`,
    // Tables of earlier releases.
    `ALTER TABLE access_log${onCluster} ADD COLUMN IF NOT EXISTS waf String CODEC(ZSTD(1)) AFTER weight`,
    // ACCESS_LOG_DAYS may have changed.
    `ALTER TABLE access_log${onCluster} MODIFY TTL ${ttl}`,
  ];
}
