import pg from 'pg';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../../tests/support/services/shared-services.ts';
import { areaOf } from './difference.ts';

test('every table of a site is tracked or exempt, with the permission area of its kind', async () => {
  const client = new pg.Client({ connectionString: await testDatabase() });
  await client.connect();
  const { rows } = await client.query<{ name: string; tracked: boolean }>(
    `SELECT c.relname AS name, EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = 'track_insert') AS tracked
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'site_id'
     WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace ORDER BY 1`,
  );
  await client.end();
  // A new table's migration calls SELECT track('its_name'), or the table is listed here with a reason.
  expect(rows.filter(({ tracked }) => !tracked).map(({ name }) => name)).toEqual([
    // Keys and certificate chains are renewed and expire.
    'acme_challenges',
    'acme_placements',
    // Alerts are history.
    'alerts',
    // Blocked addresses are runtime data.
    'blocks',
    // Cache usage is runtime data.
    'cached_now',
    'certificates',
    // Jobs are history.
    'jobs',
    // Entries of subscribed lists are fetched again.
    'list_source_chunks',
    // Destinations have secrets and the state of their deliveries.
    'log_destinations',
    'log_spool',
    'log_spool_heads',
    // These belong to the operator.
    'predefined_settings',
    'preheat_caches',
    'purges',
    'site_assignments',
    // Times at which the payer of a site changed are history.
    'site_billings',
    'site_dns',
    'site_versions',
    // Referenced by modules, which are versioned.
    'token_keys',
    // Billed bytes are history.
    'traffic_usages',
  ]);
  expect(
    rows
      .filter(({ tracked }) => tracked)
      .map(({ name }) => name)
      .filter((name) => !areaOf[name]),
  ).toEqual([]);
});
