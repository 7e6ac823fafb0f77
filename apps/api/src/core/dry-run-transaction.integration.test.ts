// Runs a call in a transaction that is always rolled back.
import { afterAll, describe, expect, test } from 'vitest';
import { testApp } from '../../../../tests/support/services/app.ts';
import { dryRun } from './dry-run-transaction.ts';

const { build, installation, close } = await testApp();
const { db, pool } = installation;
afterAll(close);

describe('a dry run', () => {
  const { promise: never } = Promise.withResolvers<never>();

  test('is aborted at its timeout, and holds no locks afterwards', async () => {
    const { id } = await build.site();
    const slow = dryRun(pool, 300, () =>
      db.$transaction(async (tx) => {
        await tx.site.update({ where: { id }, data: { name: 'slow' } });
        await tx.$queryRaw`SELECT pg_sleep(60)::text`;
      }),
    );
    await expect(slow).rejects.toMatchObject({ reason: 'BUSY' });
    await expect(dryRun(pool, 300, () => never)).rejects.toMatchObject({ reason: 'BUSY' });
    expect(await db.site.update({ where: { id }, data: { name: 'kept' } })).toMatchObject({ name: 'kept' });
  });

  test('that queries afterwards changes nothing', async () => {
    const { id, name } = await build.site();
    const { promise: end, resolve } = Promise.withResolvers<void>();
    let left: Promise<unknown> = never;
    await dryRun(pool, 5000, async () => {
      left = end.then(() => db.site.update({ where: { id }, data: { name: 'left behind' } }));
      left.catch(() => undefined);
    });
    resolve();
    await expect(left).rejects.toThrow('the dry run has ended');
    expect(await db.site.findUniqueOrThrow({ where: { id } })).toMatchObject({ name });
  });

  test('sees its own changes through every database client of the process, and no other connection sees them', async () => {
    const { id, name } = await build.site();
    const shown = async () =>
      (await pool.query<{ name: string }>('SELECT name FROM sites WHERE id = $1', [id])).rows[0];
    await dryRun(pool, 5000, async () => {
      await db.$transaction((tx) => tx.site.update({ where: { id }, data: { name: 'one' } }));
      await db
        .$transaction(async (tx) => {
          await tx.site.update({ where: { id }, data: { name: 'two' } });
          throw new Error('on purpose');
        })
        .catch(() => undefined);
      const seen = await Promise.all([shown(), db.site.findUnique({ where: { id } }), shown()]);
      expect(seen.map((row) => row?.name)).toEqual(['one', 'one', 'one']);
    });
    expect(await shown()).toEqual({ name });
  });
});
