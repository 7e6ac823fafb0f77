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

const load = {
  cpu: 0,
  memoryUsed: 0,
  memoryTotal: 0,
  diskUsed: 0,
  diskTotal: 0,
  received: 0,
  sent: 0,
  connections: 0,
};

/** A heartbeat of the agent that started at a time, with its count of lost lines. */
const beatOf = (startedAt: string, droppedLines: number | null): Heartbeat => ({
  ...heartbeat,
  ...(droppedLines !== null && { load: { ...load, logs: { waitingBytes: 0, droppedLines } } }),
  startedAt,
});

// Regression: the count of lost lines was the running agent's, so a restart of the agent hid the loss.
test('lost log lines of a node add up over restarts of its agent', async () => {
  const { db, pool } = installation;
  const { nodeId } = await nodeWithJob();
  const lostAfter = async (startedAt: string, droppedLines: number | null) => {
    await storeHeartbeats(pool, [{ nodeId, message: beatOf(startedAt, droppedLines), receivedAt: Date.now() }]);
    const { logsLost, logsLostAt } = await db.nodeState.findUniqueOrThrow({ where: { nodeId } });
    return { lines: Number(logsLost), at: logsLostAt };
  };
  const [first, second, third] = ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z', '0000-01-01T00:00:00Z'];
  expect(await lostAfter(first, 0)).toEqual({ lines: 0, at: null });
  const { lines, at } = await lostAfter(first, 5);
  expect({ lines, at }).toEqual({ lines: 5, at: expect.any(Date) });
  // The same heartbeat again, one without a count, and one that is late.
  for (const count of [5, null, 4, 5]) expect(await lostAfter(first, count)).toEqual({ lines: 5, at });
  expect((await lostAfter(first, 9)).lines).toBe(9);
  expect((await lostAfter(second, 0)).lines).toBe(9);
  expect((await lostAfter(second, 2)).lines).toBe(11);
  // Its clock is wrong, and it has lost more than the agent before.
  expect((await lostAfter(third, 6)).lines).toBe(17);
  // A hostile node cannot make the number unreadable.
  for (const startedAt of [first, second]) await lostAfter(startedAt, Number.MAX_VALUE);
  expect((await lostAfter(third, 1)).lines).toBe(Number.MAX_SAFE_INTEGER);
});

// Regression: a late heartbeat of the agent before a restart was taken for another restart, and the next one of the
// running agent as well. In one batch, the heartbeat of the earlier agent was skipped.
test('lost log lines count once when heartbeats around a restart of the agent are late or arrive together', async () => {
  const { db, pool } = installation;
  const { nodeId } = await nodeWithJob();
  const [first, second, third, fourth] = [
    '2026-01-01T00:00:00Z',
    '2026-01-01T01:00:00Z',
    '2026-01-01T02:00:00Z',
    '2026-01-01T03:00:00Z',
  ];
  const lostAfter = async (...messages: Heartbeat[]) => {
    await storeHeartbeats(
      pool,
      messages.map((message) => ({ nodeId, message, receivedAt: Date.now() })),
    );
    return Number((await db.nodeState.findUniqueOrThrow({ where: { nodeId } })).logsLost);
  };
  expect(await lostAfter(beatOf(first, 5))).toBe(5);
  expect(await lostAfter(beatOf(second, 2))).toBe(7);
  const { logsLostAt } = await db.nodeState.findUniqueOrThrow({ where: { nodeId } });
  expect(await lostAfter(beatOf(first, 5))).toBe(7);
  expect(await lostAfter(beatOf(second, 2))).toBe(7);
  expect(await db.nodeState.findUnique({ where: { nodeId } })).toMatchObject({ logsLostAt });
  // The last of an agent, and the first of the next one.
  expect(await lostAfter(beatOf(second, 4), beatOf(second, 6), beatOf(third, 1))).toBe(12);
  // In the other order.
  expect(await lostAfter(beatOf(third, 3), beatOf(second, 6))).toBe(14);
  expect(await lostAfter(beatOf(third, 3))).toBe(14);
  // The first of an agent arrives before the last of the one before it, whose lines are news.
  expect(await lostAfter(beatOf(fourth, 0), beatOf(third, 7))).toBe(18);
  expect(await lostAfter(beatOf(third, 8))).toBe(19);
  // A late one of the agent three starts ago.
  expect(await lostAfter(beatOf(first, 5))).toBe(19);
  expect(await lostAfter(beatOf(fourth, 1))).toBe(20);
});

test('a node that reports a new start of its agent each time has a short list of them', async () => {
  const { db, pool } = installation;
  const { nodeId } = await nodeWithJob();
  const startOf = (i: number) => new Date(i * 1000).toISOString();
  const items = Array.from({ length: 40 }, (_, i) => ({
    nodeId,
    message: beatOf(startOf(i), 1),
    receivedAt: Date.now(),
  }));
  await storeHeartbeats(pool, items.slice(0, 3));
  await storeHeartbeats(pool, items);
  const { agentLogCounts } = await db.nodeState.findUniqueOrThrow({ where: { nodeId } });
  expect(agentLogCounts).toEqual([39, 38, 37, 36, 35, 34, 33, 32].map((i) => [startOf(i), 1]));
});

// A rolling upgrade: a process of the release before adds what exceeds `logs_dropped`, and writes no list of agents.
test('lost log lines count once while a process of the release before stores heartbeats, too', async () => {
  const { db, pool } = installation;
  const { nodeId } = await nodeWithJob();
  const state = () => db.nodeState.findUniqueOrThrow({ where: { nodeId } });
  const [first, second] = ['2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z'];
  const lostAfter = async (startedAt: string, droppedLines: number) => {
    await storeHeartbeats(pool, [{ nodeId, message: beatOf(startedAt, droppedLines), receivedAt: Date.now() }]);
    return Number((await state()).logsLost);
  };
  expect(await lostAfter(first, 5)).toBe(5);
  expect(await state()).toMatchObject({ agentStartedAt: first, logsDropped: 5n });
  await db.nodeState.update({ where: { nodeId }, data: { logsLost: 9, logsDropped: 9 } });
  expect(await lostAfter(first, 9)).toBe(9);
  expect(await lostAfter(first, 10)).toBe(10);
  expect(await state()).toMatchObject({ agentStartedAt: first, logsDropped: 10n });
  const restarted = { agentStartedAt: second, previousAgentStartedAt: first, logsDropped: 2, logsLost: 12 };
  await db.nodeState.update({ where: { nodeId }, data: restarted });
  expect(await lostAfter(second, 3)).toBe(13);
  expect(await lostAfter(first, 10)).toBe(13);
});

// A node of an earlier release of the control plane, whose state has no start of its agent.
test('lines that were lost before the upgrade are not news', async () => {
  const { db, pool } = installation;
  const { nodeId } = await nodeWithJob();
  await db.nodeState.create({ data: { nodeId, agentLogCounts: [['', 5]] } });
  await storeHeartbeats(pool, [{ nodeId, message: beatOf(heartbeat.startedAt, 5), receivedAt: Date.now() }]);
  expect(await db.nodeState.findUnique({ where: { nodeId } })).toMatchObject({ logsLost: 0n, logsLostAt: null });
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
