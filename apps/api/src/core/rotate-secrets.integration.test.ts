import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import * as z from 'zod';
import { sealedColumns } from './rotate-secrets.ts';
import { initSecrets, masterKeyFile, readMasterKeys, writeMasterKeys } from './secrets-dir.ts';
import { envelope } from './secrets.ts';
import { testApp, type TestApp } from '../../../../tests/support/services/app.ts';
import { longTest } from '../../../../tests/support/builders/long-run.ts';
import { minimalEnv } from '../../../../tests/support/services/minimal-env.ts';
import { eventually } from '../../../../tests/support/assertions/eventually.ts';

const cli = fileURLToPath(new URL('../cli.ts', import.meta.url));
const folders: string[] = [];
const apps: TestApp[] = [];
afterAll(async () => {
  await Promise.all(apps.map((app) => app.close()));
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
});

/** An installation with its own secrets, and a value in each encrypted column. */
async function sealed(count = 20) {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-rotate-'));
  folders.push(dir);
  await initSecrets(dir);
  const app = await testApp({ SECRETS_DIR: dir });
  apps.push(app);
  const { installation, build } = app;
  const { db, pool, secrets, env } = installation;
  const zone = await build.zone();
  const setups = Array.from({ length: count }, (_, i) => `${i}`);
  await pool.query(
    `INSERT INTO authenticator_setups (id, account_id, secret_sealed, expires_at)
     SELECT id, $1, sealed, now() FROM unnest($2::text[], $3::text[]) v(id, sealed)`,
    [zone.client.id, setups, setups.map((id) => secrets.seal(`secret ${id}`, id))],
  );
  await db.session.updateMany({ data: { successor: secrets.seal('refresh', 'successor') } });
  const run = async (command: string) => {
    const child = spawn(process.execPath, [cli, command], {
      env: { ...minimalEnv, DATABASE_URL: env.DATABASE_URL, SECRETS_DIR: dir },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()));
    const ended = once(child, 'close');
    return { child, ended, done: ended.then(([code]) => ({ code: z.int().nullable().parse(code), said: output })) };
  };
  const Count = z.object({ count: z.coerce.number() });
  const under = async (keyID: string) => {
    const { rows } = await pool.query(`SELECT count(*) FROM authenticator_setups WHERE secret_sealed LIKE $1`, [
      `s1.${keyID}.%`,
    ]);
    return Count.parse(rows[0]).count;
  };
  const keyIDs = () => readMasterKeys(dir).map(({ id }) => id);
  /** Decrypts everything with the current secrets file. */
  const opensAll = async (open: typeof secrets.open) => {
    const { rows } = await pool.query<{ id: string; secret_sealed: string }>(
      `SELECT id, secret_sealed FROM authenticator_setups`,
    );
    expect(rows).toHaveLength(count);
    for (const { id, secret_sealed: text } of rows) expect(open(text, id)).toBe(`secret ${id}`);
    const { keySealed } = await db.zone.findUniqueOrThrow({ where: { id: zone.id } });
    expect(Buffer.from(open(keySealed, `zones/${zone.id}/key`), 'base64')).toHaveLength(32);
  };
  return { ...app, dir, run, under, keyIDs, opensAll };
}

const old = async (dir: string) => utimes(masterKeyFile(dir), new Date(0), new Date(0));

test(
  'a rotation encrypts every value again while the API runs, and the old key is removed later',
  { timeout: 240_000 },
  async () => {
    const { dir, run, under, keyIDs, opensAll, installation } = await sealed();
    const [before = ''] = keyIDs();
    expect(await (await run('secrets:rotate')).done).toMatchObject({ code: 0 });
    const [now = '', ...older] = keyIDs();
    expect([older, await under(now), await under(before)]).toEqual([[before], 20, 0]);
    await opensAll(installation.secrets.open);
    expect(installation.secrets.seal('x', 'y').split('.')[1]).toBe(now);

    const early = await (await run('secrets:retire')).done;
    expect([early.code, early.said.includes('the master key is new'), keyIDs()]).toEqual([1, true, [now, before]]);
    await old(dir);
    expect(await (await run('secrets:retire')).done).toMatchObject({ code: 0 });
    expect(keyIDs()).toEqual([now]);
    await opensAll(installation.secrets.open);
    await opensAll(envelope(() => readMasterKeys(dir)).open);
  },
);

test(
  'a killed rotation leaves everything readable, and the next one finishes with the same key',
  { timeout: 240_000 },
  async () => {
    const { dir, run, under, keyIDs, opensAll, installation } = await sealed(2000);
    const [before = ''] = keyIDs();
    // A locked row in the middle makes the rotation wait.
    const worker = await installation.pool.connect();
    await worker.query('BEGIN');
    await worker.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    await worker.query(`SELECT 1 FROM authenticator_setups WHERE id = '900' FOR UPDATE`);
    const { child, ended } = await run('secrets:rotate');
    await eventually(async () => expect(await under(before)).toBeLessThan(2000), { within: 90_000 });
    child.kill('SIGKILL');
    await ended;
    await worker.query('ROLLBACK');
    worker.release();
    const killed = keyIDs();
    expect([killed.length, (await under(before)) > 0]).toEqual([2, true]);
    await opensAll(installation.secrets.open);

    expect(await (await run('secrets:rotate')).done).toMatchObject({ code: 0 });
    expect([keyIDs(), await under(before), await under(killed[0] ?? '')]).toEqual([killed, 0, 2000]);
    await opensAll(envelope(() => readMasterKeys(dir).slice(0, 1)).open);
  },
);

longTest('a rotation killed before its first value continues with its new key', { timeout: 240_000 }, async () => {
  const { dir, run, under, keyIDs } = await sealed();
  await writeMasterKeys(dir, [{ key: Buffer.alloc(32, 'n') }, ...readMasterKeys(dir)]);
  const made = keyIDs();
  expect(await (await run('secrets:rotate')).done).toMatchObject({ code: 0 });
  expect([keyIDs(), await under(made[0] ?? '')]).toEqual([made, 20]);
});

test('an undecryptable value is kept and reported, and all keys stay', { timeout: 240_000 }, async () => {
  const { dir, run, keyIDs, installation } = await sealed();
  const foreign = envelope(() => [{ id: 'deadbeef', key: Buffer.alloc(32, 1) }]).seal('x', 'y');
  await installation.pool.query(`UPDATE authenticator_setups SET secret_sealed = $1 WHERE id = '3'`, [foreign]);
  const { code, said } = await (await run('secrets:rotate')).done;
  expect([code, said]).toEqual([1, expect.stringContaining('authenticator_setups.secret_sealed: 1 values')]);
  await old(dir);
  expect(await (await run('secrets:retire')).done).toMatchObject({ code: 1 });
  expect(keyIDs()).toHaveLength(2);
});

test('every encrypted column is known to the rotation', { timeout: 240_000 }, async () => {
  const { installation } = await sealed();
  const found = (await sealedColumns(installation.pool)).map(({ table, name }) => `${table}.${name}`);
  // Columns with "sealed" in their name.
  const schema = path.join(import.meta.dirname, '../../../../prisma/schema');
  const files = (await readdir(schema)).map((file) => readFile(path.join(schema, file), 'utf8'));
  const models = (await Promise.all(files)).join('\n').split(/^model /m);
  const names = models.flatMap((model) => {
    const table = /@@map\("(\w+)"\)/.exec(model)?.[1];
    return [...model.matchAll(/^  (\w*sealed) +String.*$/gim)].map(
      ([line, name]) => `${table}.${/@map\("(\w+)"\)/.exec(line)?.[1] ?? name}`,
    );
  });
  expect(found.toSorted()).toEqual([...names, 'sessions.successor'].toSorted());
  // No other text column has values with the prefix of sealed values.
  const { rows } = await installation.pool.query<{ table: string; name: string }>(
    `SELECT table_name AS "table", column_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND data_type IN ('text', 'jsonb', 'json')`,
  );
  for (const { table, name } of rows.filter((column) => !found.includes(`${column.table}.${column.name}`))) {
    const { rowCount } = await installation.pool.query(
      `SELECT 1 FROM "${table}" WHERE "${name}"::text LIKE '%s1.________.%' LIMIT 1`,
    );
    expect(rowCount, `${table}.${name}`).toBe(0);
  }
});
