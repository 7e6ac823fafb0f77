// Prometheus metrics of this process. Other files add theirs to this registry. Names and labels follow Prometheus'
// rules, which tests/support/assertions/metric-rules.ts checks.
import type { Pool } from 'pg';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export const registry = new Registry();
// Without a prefix, because dashboards for Node.js expect these names.
collectDefaultMetrics({ register: registry });
// prom-client names some gauges like counters.
for (const name of ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'])
  registry.removeSingleMetric(name);

export const httpRequestSeconds = new Histogram({
  name: 'edgeloom_api_http_request_duration_seconds',
  help: 'Time from a request to its response, by declared route and class of status',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10],
  registers: [registry],
});

export const jobSeconds = new Histogram({
  name: 'edgeloom_api_job_duration_seconds',
  help: 'Time of one run of a background job, by its queue and result (ok, failed)',
  labelNames: ['queue', 'result'],
  buckets: [0.1, 1, 10, 60, 600, 3600],
  registers: [registry],
});

export const logMessages = new Counter({
  name: 'edgeloom_api_log_messages_total',
  help: 'Logged warnings and errors',
  labelNames: ['level'],
  registers: [registry],
});

export const geoipBuilt = new Gauge({
  name: 'edgeloom_api_geoip_build_timestamp_seconds',
  help: 'When the database of addresses in use was built (country, asn)',
  labelNames: ['database'],
  registers: [registry],
});

const pools = new Map<Pool, string>();

/** Adds a pool to the metrics until it ends. */
export function watchPool(pool: Pool, name: 'api' | 'node_link'): void {
  pools.set(pool, name);
}

function addPoolGauge(name: string, help: string, read: (pool: Pool) => number) {
  return new Gauge({
    name: `edgeloom_api_database_${name}`,
    help,
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [pool, ofPool] of pools) {
        if (pool.ended) pools.delete(pool);
        else this.inc({ pool: ofPool }, read(pool));
      }
    },
  });
}
addPoolGauge('connections', 'Open connections to PostgreSQL', (pool) => pool.totalCount);
addPoolGauge('connections_idle', 'Open connections to PostgreSQL that are idle', (pool) => pool.idleCount);
addPoolGauge('connections_max', 'Maximum number of connections', (pool) => pool.options.max);
addPoolGauge('queries_waiting', 'Queries and transactions that wait for a connection', (pool) => pool.waitingCount);
