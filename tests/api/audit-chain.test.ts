// The chain of the audit log reveals tampering.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { auditFaults } from '../support/assertions/audit-faults.ts';
import { testApp } from '../support/services/app.ts';
import { services } from '../support/services/shared-services.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { build, installation } = app;
const { db, pool } = installation;
afterAll(() => app.close());

const as = (who: SignedInAccount) => app.as(who).call;

/** Runs statements as the database owner with triggers disabled. */
const tamper = async (...statements: string[]) => {
  const client = await pool.connect();
  try {
    await client.query('SET session_replication_role = replica');
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.query('SET session_replication_role = DEFAULT');
    client.release();
  }
};
const restore = (chain: string) =>
  tamper(`DELETE FROM audit_rows WHERE chain = '${chain}'`, `DELETE FROM audit_heads WHERE chain = '${chain}'`);

describe('the chain', () => {
  /** An account with six audit rows. */
  async function clientWithSixRows() {
    const zone = await build.zone();
    for (const memo of 'abcdef') await as(zone.client)(zones.update, { body: { id: zone.id, memo } });
    const rows = await db.auditRow.findMany({ where: { clientId: zone.clientId }, orderBy: { seq: 'asc' } });
    const row = (seq: number) => rows[seq - 1]?.reqId ?? '';
    return { chain: zone.clientId, row };
  }
  test('holds under concurrent writes of one and of many clients', async () => {
    const tenants = await Promise.all([build.zone(), build.zone(), build.zone()]);
    await Promise.all(
      tenants.flatMap(({ id, client }) =>
        Array.from({ length: 10 }, (_, i) => as(client)(zones.update, { body: { id, memo: `${i} "'\\ 記憶` } })),
      ),
    );
    for (const { clientId } of tenants) expect(await db.auditRow.count({ where: { chain: clientId } })).toBe(10);
    expect(await auditFaults(installation)).toEqual([]);
  });

  test.each([
    'UPDATE audit_rows SET status = 200',
    'DELETE FROM audit_rows',
    'TRUNCATE audit_rows',
    'DELETE FROM audit_heads',
  ])('refuses %s', async (statement) => {
    await expect(pool.query(statement)).rejects.toThrow('written once');
  });

  test('shows the first modified row', async () => {
    const { chain, row } = await clientWithSixRows();
    await tamper(
      `UPDATE audit_rows SET changes = '[]' WHERE req_id = '${row(3)}'`,
      `UPDATE audit_rows SET status = 500 WHERE req_id = '${row(5)}'`,
    );
    expect(await auditFaults(installation)).toEqual([{ chain, seq: 3n, reqID: row(3), what: 'changed' }]);
    await restore(chain);
  });

  test('shows a row with another context', async () => {
    const { chain, row } = await clientWithSixRows();
    await tamper(`UPDATE audit_rows SET context = context || '{"count":9}' WHERE req_id = '${row(3)}'`);
    expect(await auditFaults(installation)).toEqual([{ chain, seq: 3n, reqID: row(3), what: 'changed' }]);
    await restore(chain);
  });

  test('shows removed and swapped rows', async () => {
    const { chain, row } = await clientWithSixRows();
    await tamper(`DELETE FROM audit_rows WHERE req_id = '${row(4)}'`);
    expect(await auditFaults(installation)).toEqual([{ chain, seq: 4n, reqID: null, what: 'missing' }]);
    await restore(chain);
    const second = await clientWithSixRows();
    await tamper(
      `UPDATE audit_rows SET seq = -1 WHERE req_id = '${second.row(2)}'`,
      `UPDATE audit_rows SET seq = 2 WHERE req_id = '${second.row(3)}'`,
      `UPDATE audit_rows SET seq = 3 WHERE req_id = '${second.row(2)}'`,
    );
    expect(await auditFaults(installation)).toEqual([
      { chain: second.chain, seq: 2n, reqID: second.row(3), what: 'changed' },
    ]);
    await restore(second.chain);
  });

  test('shows a truncated end, and a chain without a head', async () => {
    const { chain, row } = await clientWithSixRows();
    await tamper(`DELETE FROM audit_rows WHERE req_id IN ('${row(5)}', '${row(6)}')`);
    expect(await auditFaults(installation)).toEqual([{ chain, seq: 5n, reqID: null, what: 'cut off' }]);
    await tamper(`DELETE FROM audit_heads WHERE chain = '${chain}'`);
    expect(await auditFaults(installation)).toEqual([{ chain, seq: 0n, reqID: null, what: 'without a head' }]);
    await restore(chain);
  });

  test('is verified by a command, which fails on a broken chain', async () => {
    const { chain, row } = await clientWithSixRows();
    const verify = async () => {
      const cli = path.resolve('apps/api/src/cli.ts');
      const env = { ...process.env, DATABASE_URL: installation.env.DATABASE_URL, SECRETS_DIR: services().secretsDir };
      return promisify(execFile)(process.execPath, [cli, 'audit:verify'], { env }).then(
        ({ stdout }) => ({ code: 0, stdout }),
        (error: { code: number; stdout: string }) => ({ code: error.code, stdout: error.stdout }),
      );
    };
    const good = await verify();
    expect(good.code).toBe(0);
    expect(good.stdout).toContain(`${chain}  6 rows, head `);
    await tamper(`UPDATE audit_rows SET email = 'somebody@else.example' WHERE req_id = '${row(2)}'`);
    const bad = await verify();
    expect(bad.code).toBe(1);
    expect(bad.stdout).toContain(`${chain}  BROKEN at row 2 (${row(2)}): changed`);
    await restore(chain);
  });

  test('can be rebuilt by the database owner, which only an external copy of the head reveals', async () => {
    const { chain } = await clientWithSixRows();
    const externalHead = await db.auditHead.findUniqueOrThrow({ where: { chain } });
    const again = new pg.Client({ connectionString: installation.env.DATABASE_URL });
    await again.connect();
    try {
      await again.query('SET session_replication_role = replica');
      await again.query(`UPDATE audit_rows SET email = 'x@example.com' WHERE chain = $1`, [chain]);
      await again.query(
        `DO $$ DECLARE r audit_rows; h bytea := ''; BEGIN
           FOR r IN SELECT * FROM audit_rows WHERE chain = '${chain}' ORDER BY seq LOOP
             h := sha256(h || audit_content(r)); UPDATE audit_rows SET hash = h WHERE req_id = r.req_id;
           END LOOP; UPDATE audit_heads SET hash = h WHERE chain = '${chain}'; END $$`,
      );
    } finally {
      await again.end();
    }
    expect(await auditFaults(installation)).toEqual([]);
    expect((await db.auditHead.findUniqueOrThrow({ where: { chain } })).hash).not.toEqual(externalHead.hash);
  });
});
