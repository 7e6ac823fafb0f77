// Backups of the database. Scripts stand in for pg_dump, except in the last test.
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { dbBackup } from '@edgeloom/contract/db-backup/db-backup.endpoints.ts';
import { systemSetting } from '@edgeloom/contract/system-setting/system-setting.endpoints.ts';
import { deploy } from '../../prisma/migrate.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { unique } from '../support/builders/build.ts';
import { testApp } from '../support/services/app.ts';
import { claimBackup, runBackup } from '../support/services/background-work.ts';
import { startDebianPostgres } from '../support/services/debian-postgres.ts';
import { startApp } from '../support/services/running-app.ts';
import { services } from '../support/services/shared-services.ts';
import { testDir } from '../support/services/test-dir.ts';
import '../support/assertions/matchers.ts';

const dir = await testDir();
const parent = path.join(dir, 'backups');
const pgDump = path.join(dir, 'pg_dump');
const { as, build, installation, close } = await testApp({ BACKUP_DIR: parent, PG_DUMP_BINARY: pgDump });
const { db, pool } = installation;
afterAll(close);
const tenant = await build.client();
const { call } = as(tenant.client);

const say = `echo 'pg_dump: dumping contents of table "public.accounts"' >&2; printf 'dump of %s' "$PGDATABASE"`;
const dumps = (script = say) => writeFile(pgDump, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
const input = { period: 'off', time: '03:00', path: parent, retention: 3 } as const;
beforeEach(async () => {
  await dumps();
  await db.dbBackup.deleteMany();
});

async function newFolder(): Promise<string> {
  const folder = path.join(parent, unique('folder'));
  await call(dbBackup.update, { body: { ...input, path: folder } });
  return folder;
}
const never = new AbortController().signal;
/** The next backup that is due, as a process takes it. */
async function claim() {
  const claimed = await claimBackup(pool);
  if (!claimed) throw new Error('no backup is due');
  return claimed;
}
const runDue = async (stopping = never) => runBackup(installation, await claim(), stopping);

describe('the setting', () => {
  test('has defaults, and its folder is in the one of the installation', async () => {
    const defaults = { period: 'off', time: '03:00', path: parent, retention: 7, nextAt: null, status: 'idle' };
    expect(await call(dbBackup.get)).toMatchObject({ ...defaults, lastError: null, progress: null });
    const body = { period: 'week', time: '23:30', path: path.join(parent, 'weekly'), retention: 2 } as const;
    const changed = await call(dbBackup.update, { body });
    expect(changed).toMatchObject(body);
    const nextAt = new Date(changed.nextAt ?? 0);
    expect([nextAt.getUTCDay(), nextAt.toISOString().slice(11, 16)]).toEqual([1, '23:30']);
    expect(nextAt.getTime()).toBeGreaterThan(Date.now());
    expect((await call(systemSetting.all)).DBBackup).toEqual(await call(dbBackup.get));
    expect(await readdir(body.path)).toEqual([]);
  });

  test.each(['/etc', `${dir}/backups-of-others`, dir])('refuses the folder %s', async (folder) => {
    await expect(call(dbBackup.update, { body: { ...input, path: folder } })).toFail('PARAMETER', {
      errorData: [expect.objectContaining({ path: 'path', rule: 'outside', values: { parent } })],
    });
  });

  test('refuses a folder that cannot be written', async () => {
    await newFolder();
    const file = path.join(parent, unique('file'));
    await writeFile(file, '');
    const refused = { errorData: [expect.objectContaining({ path: 'path', rule: 'policy' })] };
    await expect(call(dbBackup.update, { body: { ...input, path: file } })).toFail('PARAMETER', refused);
    await db.dbBackup.updateMany({ data: { path: file } });
    await expect(call(dbBackup.files)).toFail('PARAMETER', refused);
    await expect(call(dbBackup.run)).toFail('PARAMETER', refused);
  });

  test('is changed by the root account only; a sub-account with the permission may start a backup', async () => {
    await newFolder();
    const sub = as(await build.subClient(tenant, [], { permissions: ['backup:read', 'backup:write'] }));
    await expect(sub.call(dbBackup.update, { body: input })).toFail('PERMISSION_DENIED');
    expect(await sub.call(dbBackup.run)).toMatchObject({ status: 'waiting' });
    const other = as(await build.subClient(tenant, [], { permissions: ['setting:read'] }));
    await expect(other.call(dbBackup.files)).toFail('PERMISSION_DENIED');
    expect((await other.call(systemSetting.all)).DBBackup).toBeNull();
  });
});

describe('a backup', () => {
  test('is a whole file that others cannot read, and the oldest files are deleted', async () => {
    const folder = await newFolder();
    const old = ['edgeloom-20260101T000000Z.dump', 'edgeloom-20260102T000000Z.dump', 'edgeloom-20260103T000000Z.dump'];
    for (const name of [...old, 'notes.txt']) await writeFile(path.join(folder, name), 'old');
    expect(await call(dbBackup.run)).toMatchObject({ status: 'waiting' });
    expect(await call(dbBackup.run)).toMatchObject({ status: 'waiting' });
    await runDue();
    const { data } = await call(dbBackup.files);
    const [newest, ...rest] = data;
    expect(rest.map(({ name }) => name)).toEqual([old[2], old[1]]);
    expect((await readdir(folder)).toSorted()).toEqual([old[1], old[2], newest?.name, 'notes.txt']);
    const file = path.join(folder, newest?.name ?? '');
    expect(await readFile(file, 'utf8')).toBe(`dump of ${new URL(installation.env.DATABASE_URL).pathname.slice(1)}`);
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600');
    const { startedAt, ...state } = await call(dbBackup.get);
    expect(newest).toMatchObject({ bytes: (await stat(file)).size, createdAt: `${startedAt?.slice(0, 19)}.000Z` });
    expect(state).toMatchObject({ status: 'idle', lastError: null, progress: null, endedAt: expect.any(String) });
    expect(await claimBackup(pool)).toBeNull();
  });

  test('that fails leaves the files as they are, and says why', async () => {
    const folder = await newFolder();
    const old = 'edgeloom-20260101T000000Z.dump';
    await writeFile(path.join(folder, old), 'old');
    await dumps(`${say}; echo 'pg_dump: error: aborting because of server version mismatch' >&2; exit 1`);
    await call(dbBackup.run);
    await expect(runDue()).rejects.toThrow('version mismatch');
    const lastError = 'pg_dump: error: aborting because of server version mismatch';
    expect(await call(dbBackup.get)).toMatchObject({ status: 'idle', lastError });
    expect(await readdir(folder)).toEqual([old]);
  });

  test('says that pg_dump is missing', async () => {
    await newFolder();
    await rm(pgDump);
    await call(dbBackup.run);
    await expect(runDue()).rejects.toThrow('ENOENT');
    expect((await call(dbBackup.get)).lastError).toContain(pgDump);
  });

  test('that is stopped is never listed, and another process starts it again', async () => {
    const folder = await newFolder();
    await dumps(`${say}; exec sleep 600`);
    await call(dbBackup.run);
    const stopping = new AbortController();
    const running = runDue(stopping.signal);
    await eventually(async () => {
      const [part = ''] = await readdir(folder);
      expect(part).toMatch(/\.part$/);
      expect(await readFile(path.join(folder, part), 'utf8')).toContain('dump of');
    });
    await eventually(async () => expect((await call(dbBackup.get)).progress).toBeGreaterThan(0));
    expect((await call(dbBackup.files)).data).toEqual([]);
    expect(await claimBackup(pool)).toBeNull();
    stopping.abort();
    await running;
    expect(await readdir(folder)).toEqual([]);
    expect(await call(dbBackup.get)).toMatchObject({ status: 'running', endedAt: null });

    await dumps();
    await runDue();
    expect((await call(dbBackup.files)).data).toHaveLength(1);
  });

  test('whose pg_dump is stopped by a signal is started again', async () => {
    const folder = await newFolder();
    await call(dbBackup.run);
    await dumps('kill -TERM $$');
    await runDue();
    expect(await call(dbBackup.get)).toMatchObject({ status: 'running', lastError: null });
    await dumps();
    await runDue();
    expect(await readdir(folder)).toHaveLength(1);
    expect(await call(dbBackup.get)).toMatchObject({ status: 'idle', lastError: null });
  });

  test('of a killed process is run by the next one, which removes its partial file', async () => {
    const folder = await newFolder();
    await call(dbBackup.run);
    const killed = await claim();
    await writeFile(path.join(folder, 'edgeloom-20260101T000000Z.dump.x.part'), 'half');
    expect(await claimBackup(pool)).toBeNull();
    await pool.query(`UPDATE db_backups SET claimed_until = now() - interval '1 second'`);
    await runDue();
    const { data } = await call(dbBackup.files);
    expect(await readdir(folder)).toEqual(data.map(({ name }) => name));
    expect(killed.claim).not.toBe((await db.dbBackup.findFirstOrThrow()).claimedBy);
  });

  test('is due at its time, and once after a pause of all processes', async () => {
    await newFolder();
    await call(dbBackup.update, { body: { ...input, period: 'day' } });
    expect(await claimBackup(pool)).toBeNull();
    await pool.query(`UPDATE db_backups SET counted_from = now() - interval '3 days'`);
    await runDue();
    expect(await claimBackup(pool)).toBeNull();
    await call(dbBackup.update, { body: input });
    await pool.query(`UPDATE db_backups SET counted_from = now() - interval '90 days'`);
    expect(await claimBackup(pool)).toBeNull();
  });
});

test('in an installation with several operators, none of them has backups', async () => {
  const app = await testApp({ BACKUP_DIR: parent, PG_DUMP_BINARY: pgDump });
  onTestFinished(() => app.close());
  const [one] = [await app.build.client(), await app.build.client()];
  const body = { ...input, path: path.join(parent, unique('folder')) };
  const { call: callOne } = app.as(one.client);
  for (const attempt of [
    () => callOne(dbBackup.get),
    () => callOne(dbBackup.files),
    () => callOne(dbBackup.run),
    () => callOne(dbBackup.update, { body }),
  ])
    await expect(attempt()).toFail('PERMISSION_DENIED');
  expect((await callOne(systemSetting.all)).DBBackup).toBeNull();
  // It was set before the second operator came.
  await app.installation.db.dbBackup.create({ data: { clientId: one.clientId, path: body.path, status: 'waiting' } });
  expect(await claimBackup(app.installation.pool)).toBeNull();
});

test('a file restores the database with pg_restore', { timeout: 240_000 }, async () => {
  const postgres = await startDebianPostgres(path.join(await testDir(), 'postgres'));
  onTestFinished(() => postgres.stop());
  for (const name of ['edgeloom', 'restored']) await postgres.query(`CREATE DATABASE ${name}`);
  await deploy(postgres.url('edgeloom'));
  const folder = path.join(parent, unique('folder'));
  const settings = { BACKUP_DIR: folder, PG_DUMP_BINARY: path.join(postgres.bin, 'pg_dump') };
  const app = await startApp(services(), postgres.url('edgeloom'), settings);
  onTestFinished(() => app.close());
  const site = await app.build.site();
  const client = app.as(site.client);
  await client.call(dbBackup.run);
  const claimed = await claimBackup(app.installation.pool);
  if (!claimed) throw new Error('no backup is due');
  await runBackup(app.installation, claimed, never);
  const [file] = (await client.call(dbBackup.files)).data;
  const into = `--dbname=${postgres.url('restored')}`;
  await promisify(execFile)(path.join(postgres.bin, 'pg_restore'), [
    '--no-owner',
    '--exit-on-error',
    into,
    path.join(folder, file?.name ?? ''),
  ]);
  const restored = new pg.Client(postgres.url('restored'));
  await restored.connect();
  onTestFinished(() => restored.end());
  const { rows } = await restored.query('SELECT id FROM sites');
  expect(rows).toEqual([{ id: site.id }]);
});
