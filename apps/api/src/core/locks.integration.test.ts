// Advisory lock classes in code must match those in database functions.
import { lockClasses, locks } from './locks.ts';
import pg from 'pg';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../tests/support/services/shared-services.ts';

test('lock numbers are unique, and locks of database functions are on the list', async () => {
  for (const list of [locks, lockClasses]) {
    const numbers = Object.values(list);
    expect(new Set(numbers).size).toBe(numbers.length);
  }
  const client = new pg.Client({ connectionString: await testDatabase() });
  await client.connect();
  const { rows } = await client.query<{ name: string; taken: string }>(
    `SELECT proname AS name, (regexp_matches(prosrc, 'pg_(?:try_)?advisory_(?:xact_)?lock\\(([^)]*)', 'g'))[1] AS taken
     FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  );
  await client.end();
  expect(rows.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
    { name: 'lock_names', taken: `${lockClasses.nameClaims}, b.bucket` },
    { name: 'number_site_version', taken: `${lockClasses.siteVersions}, hashtext(NEW.site_id::text` },
  ]);
});
