// Prometheus metrics of this process. Other files add theirs to this registry.
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export const registry = new Registry();
collectDefaultMetrics({ register: registry, prefix: 'edgeloom_api_' });

export const httpSeconds = new Histogram({
  name: 'edgeloom_api_http_seconds',
  help: 'Time from a call to its answer, by declared route',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  registers: [registry],
});
