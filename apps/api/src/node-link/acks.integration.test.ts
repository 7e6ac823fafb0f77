// Acks and heartbeats of one node in two API processes.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import type { Ack, Heartbeat } from '@edgeloom/contract/edge/messages.ts';
import pg from 'pg';
import { apiClients } from '../../../../tests/support/builders/api-clients.ts';
import { builder } from '../../../../tests/support/builders/build.ts';
import { eventually } from '../../../../tests/support/assertions/eventually.ts';
import { services, testDatabase } from '../../../../tests/support/services/shared-services.ts';
import { openInstallation } from '../core/installation.ts';
import { readEnv } from '../core/env.ts';
import { storeAcks, storeHeartbeats } from './acks.ts';

let installation: Awaited<ReturnType<typeof openInstallation>>;
beforeAll(async () => {
  const { natsUrl, secretsDir } = services();
  const env = readEnv({ DATABASE_URL: await testDatabase(), NATS_URL: natsUrl, SECRETS_DIR: secretsDir });
  installation = await openInstallation(env);
});
afterAll(() => installation.close());

/** A node and a job that is complete on it with the ack. */
async function nodeWithJob() {
  const { db } = installation;
  const build = builder(installation, apiClients(installation, { url: '', adminUrl: '' }).signIn);
  const site = await build.site();
  const { id: nodeId } = await build.node({ zone: site.zone });
  await db.edgeNode.update({ where: { id: nodeId }, data: { publicKey: nodeId, joinedAt: new Date() } });
  const { id: jobId } = await db.job.create({
    data: { siteId: site.id, kind: 'purgeAll', title: '', docKeys: [siteKey(site.id)], revision: 5, createdBy: 'test' },
  });
  const ack: Ack = {
    revision: 5,
    state: 'rejected',
    tookMs: 1,
    rejected: [{ key: siteKey(site.id), revision: 5, error: 'not this one' }],
  };
  return { nodeId, jobId, ack };
}

const heartbeat: Heartbeat = {
  revision: 4,
  digest: '',
  version: '1',
  startedAt: new Date().toISOString(),
  nginx: 'running',
  error: null,
  rejected: [],
  capabilities: [],
};

// Regression: a heartbeat that was built before an ack and stored after it restored the older revision.
test('a heartbeat from before an ack does not lower the revision, and a later one does', async () => {
  const { db, pool } = installation;
  const { nodeId, ack } = await nodeWithJob();
  const beat = (revision: number) =>
    storeHeartbeats(pool, [{ nodeId, message: { ...heartbeat, revision }, receivedAt: Date.now() }]);
  const state = () => db.nodeState.findUniqueOrThrow({ where: { nodeId } });
  await storeAcks(pool, [{ nodeId, message: ack }]);
  await beat(4);
  expect(await state()).toMatchObject({ revision: 5, rejected: ack.rejected, version: '1' });

  // The node has lost documents since.
  await db.nodeState.update({ where: { nodeId }, data: { syncedAt: new Date(Date.now() - 3_600_000) } });
  await beat(4);
  expect(await state()).toMatchObject({ revision: 4, rejected: [] });
  await storeAcks(pool, [{ nodeId, message: { ...ack, revision: 3 } }]);
  await beat(3);
  expect(await state()).toMatchObject({ revision: 3, rejected: [] });
});

// Regression: receipts read the rejections from the node's state, which the heartbeat had replaced by its older list.
test('an older heartbeat between an ack and its receipts does not hide a rejection', async () => {
  const { db, env, pool } = installation;
  const { nodeId, jobId, ack } = await nodeWithJob();
  const locker = new pg.Client({ connectionString: env.DATABASE_URL });
  await locker.connect();
  try {
    await locker.query('BEGIN');
    await locker.query('LOCK TABLE job_receipts IN ACCESS EXCLUSIVE MODE');
    const stored = async (state: object) =>
      expect(await db.nodeState.findUnique({ where: { nodeId } })).toMatchObject(state);
    const acked = storeAcks(pool, [{ nodeId, message: ack }]);
    await eventually(() => stored({ revision: 5 }));
    const beaten = storeHeartbeats(pool, [{ nodeId, message: heartbeat, receivedAt: Date.now() }]);
    await eventually(() => stored({ version: heartbeat.version }));
    await locker.query('COMMIT');
    await Promise.all([acked, beaten]);
  } finally {
    await locker.end();
  }
  expect(await db.jobReceipt.findMany({ where: { jobId } })).toMatchObject([
    { nodeId, state: 'failed', error: 'not this one' },
  ]);
  expect(await db.job.findUnique({ where: { id: jobId } })).toMatchObject({ state: 'failed' });
});
