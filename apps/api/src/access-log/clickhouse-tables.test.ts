import { expect, test } from 'vitest';
import { tableStatements } from './clickhouse-tables.ts';

test('a single server has a plain table, which forgets requests with their day', () => {
  const [create = '', , alter = ''] = tableStatements({ cluster: undefined, days: 8 });
  expect(create).toContain('ENGINE = MergeTree PARTITION BY toDate(at)');
  expect(create).toContain('non_replicated_deduplication_window');
  expect(alter).toBe('ALTER TABLE access_log MODIFY TTL toDateTime(at) + toIntervalDay(8)');
});

test('a cluster has a replicated table on every replica', () => {
  const [create = '', add = '', alter = ''] = tableStatements({ cluster: 'edge', days: 8 });
  expect(create).toContain('access_log ON CLUSTER edge (');
  expect(create).toContain(
    "ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/{database}/access_log', '{replica}')",
  );
  expect(create).toContain('replicated_deduplication_window_seconds');
  expect(add).toContain('access_log ON CLUSTER edge ADD COLUMN IF NOT EXISTS waf');
  expect(alter).toContain('access_log ON CLUSTER edge MODIFY TTL');
});
