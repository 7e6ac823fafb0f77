import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRegistry, serveMetrics, type NodeFacts } from '@edgeloom/agent/metrics.ts';
import { expect, test } from 'vitest';
import {
  alertsFile,
  dashboardFile,
  metricFaults,
  metricTypes,
  monitoredMetrics,
  promtool,
} from '../tests/support/assertions/metric-rules.ts';

const logs = { waitingBytes: 512, droppedLines: 3, droppedBytes: 900, sentBytes: 2048, sentBatches: 2 };
const facts: NodeFacts = {
  isConnected: () => true,
  isNginxUp: () => true,
  isDiskFull: () => false,
  documents: () => ({ stored: 12, rejected: 1 }),
  nginx: async () => ({
    generation: 1,
    pid: 2,
    seq: 3,
    connections: { active: 6, reading: 1, writing: 2, waiting: 3 },
  }),
  logs: async () => logs,
};

test('the agent names its metrics by the rules of Prometheus', async () => {
  expect(metricFaults(await createRegistry(facts).metrics())).toEqual([]);
});

test('the agent has each metric of the dashboard and the alerts', async () => {
  const names = monitoredMetrics(/^edgeloom_agent_/);
  expect(names.length).toBeGreaterThan(5);
  expect([...metricTypes(await createRegistry(facts).metrics()).keys()]).toEqual(expect.arrayContaining(names));
});

test('each request for metrics reads current values', async () => {
  const current = { ...logs };
  const registry = createRegistry({ ...facts, logs: async () => current });
  const read = async () => (await registry.metrics()).split('\n').filter((line) => line.startsWith('edgeloom_agent_'));
  expect(await read()).toEqual(
    expect.arrayContaining([
      'edgeloom_agent_connected 1',
      'edgeloom_agent_cache_disk_full 0',
      'edgeloom_agent_documents_rejected 1',
      'edgeloom_agent_nginx_connections{state="waiting"} 3',
      'edgeloom_agent_logs_waiting_bytes 512',
      'edgeloom_agent_logs_dropped_lines_total 3',
      'edgeloom_agent_logs_sent_bytes_total 2048',
    ]),
  );
  current.sentBytes = 4096;
  expect(await read()).toContain('edgeloom_agent_logs_sent_bytes_total 4096');
});

test('an nginx that does not respond has no connections', async () => {
  const registry = createRegistry({
    ...facts,
    isNginxUp: () => false,
    nginx: () => Promise.reject(new Error('silent')),
  });
  const text = await registry.metrics();
  expect(text).toContain('edgeloom_agent_nginx_up 0');
  expect(text).not.toContain('edgeloom_agent_nginx_connections{');
});

test('an address in use is logged and does not stop the agent', async () => {
  const errors: string[] = [];
  const ignore = () => undefined;
  const log = { info: ignore, warn: ignore, error: (message: string) => void errors.push(message) };
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const stop = await serveMetrics(`127.0.0.1:${port}`, facts, log);
  await stop();
  other.close();
  expect(errors).toEqual(['metrics cannot be served']);
});

test('each alert has an expression, a severity and texts', () => {
  const alerts = readFileSync(alertsFile, 'utf8')
    .split(/^ {6}- alert: /m)
    .slice(1);
  expect(alerts.length).toBeGreaterThan(15);
  for (const alert of alerts)
    expect(alert).toMatch(
      /^Edgeloom\w+\n +expr: .+\n( +for: \d+[mh]\n)? +labels: \{ severity: (critical|warning) \}\n +annotations:\n +summary: .+\n +description: .+\n/,
    );
  expect(promtool(['check', 'rules', alertsFile])).toEqual([]);
});

test('panels of the dashboard have ids of their own and do not overlap', () => {
  interface Panel {
    id: number;
    gridPos: { x: number; y: number; w: number; h: number };
  }
  const { panels }: { panels: Panel[] } = JSON.parse(readFileSync(dashboardFile, 'utf8'));
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});
