// The control plane's connection to the nodes. Starts when NATS is available, and survives outages of NATS and
// PostgreSQL.
import {
  Ack,
  BlockReport,
  BlocksRequest,
  CachedReport,
  Heartbeat,
  OriginReport,
  SyncRequest,
} from '@edgeloom/contract/edge/messages.ts';
import { UpgradeReport } from '@edgeloom/contract/edge/releases.ts';
import { everyNode } from '@edgeloom/contract/subjects.ts';
import type { NatsConnection } from 'nats';
import pg from 'pg';
import { openBus } from '../core/bus.ts';
import type { Bus } from '../core/bus.ts';
import type { Installation } from '../core/installation.ts';
import { originPolicy } from '../core/outbound.ts';
import { answerKeyQuestions } from '../zone-keys/give-keys.ts';
import { storeUpgradeReport } from '../rollouts/reports.ts';
import { storeAcks, storeHeartbeats } from './acks.ts';
import type { Beat, FromNode } from './acks.ts';
import { batches } from './batches.ts';
import { blocksPage, startBlockPushes, tidyBlocks } from './block-pushes.ts';
import { storeBlockReports } from './block-reports.ts';
import { storeCached } from './cached-reports.ts';
import { startCommands } from './commands.ts';
import type { Answer, Order } from './commands.ts';
import { receive, refuseUnknown } from './incoming.ts';
import { startKeptWarm } from './kept-warm.ts';
import { listen } from '../core/listen.ts';
import type { LinkLog } from './log.ts';
import { forgetOrigins, storeOrigins } from './origin-reports.ts';
import { reviewPresence, watchPresence } from './presence.ts';
import { startPreheats } from './preheats.ts';
import { startPublisher } from './publisher.ts';
import { Quarantine } from './quarantine.ts';
import { repeat } from './repeat.ts';
import { pushAccount, revocationMark } from './revocations.ts';
import { syncPage } from './sync.ts';
import { removeTombstones } from './tombstones.ts';
import type { Trust } from '../core/trust.ts';

export interface NodeLink {
  /** Throws when nodes are unreachable. */
  healthy: () => Promise<void>;
  isUp: () => boolean;
  /** Sends a node a command. */
  order: (nodeId: string, order: Order) => Promise<Answer>;
  /** Disconnects newly revoked keys at once, rather than in some seconds. */
  revoke: () => Promise<void>;
  stop: () => Promise<void>;
}

const links = new WeakMap<Installation, NodeLink>();

/** Null until it is started: a process may serve HTTP only. */
export const linkOf = (installation: Installation): NodeLink | null => links.get(installation) ?? null;

/** A separate pool: API load must not delay changes for nodes. */
const CONNECTIONS = 8;
const HEARTBEATS_GATHER_MS = 100;
const REVIEW_EVERY_MS = 30_000;
const REVOCATIONS_EVERY_MS = 5000;
const TOMBSTONES_EVERY_MS = 3_600_000;
const ZONES_EVERY_MS = 3_600_000;
const BLOCKS_EVERY_MS = 10_000;

/** Returns at once. NATS is awaited in the background. */
export async function startNodeLink(installation: Installation, log: LinkLog): Promise<NodeLink> {
  const { env, secrets, trust } = installation;
  const pool = new pg.Pool({
    connectionString: env.DATABASE_URL,
    max: CONNECTIONS,
    connectionTimeoutMillis: 5000,
    application_name: 'edgeloom-node-link',
  });
  pool.on('error', () => undefined);
  // A checked-out idle connection that breaks emits an error, which would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));

  const stopping = new AbortController();
  let bus: Bus | null = null;
  let revokeNow = (): Promise<unknown> => Promise.resolve();
  const compiler = { secrets, policy: originPolicy(env) };
  const publisher = startPublisher({ pool, compiler, bus: () => bus, quarantine: new Quarantine(), log });
  const commands = startCommands(pool, () => bus, log);
  const preheats = startPreheats(pool, () => bus, log);
  const keptWarm = startKeptWarm(pool, () => bus, log);
  const wakeJobs = () => {
    commands.wake();
    preheats.wake();
  };
  const blockPushes = startBlockPushes(pool, () => bus, log);
  const listener = listen(env.DATABASE_URL, { outbox: publisher.wake, jobs: wakeJobs, blocks: blockPushes.wake });
  const acks = batches((items: FromNode<Ack>[]) => storeAcks(pool, items));
  // Heartbeats are not urgent: of a thousand nodes several arrive in a tenth of a second.
  const heartbeats = batches((items: Beat[]) => storeHeartbeats(pool, items), { gatherMs: HEARTBEATS_GATHER_MS });
  const blockReports = batches((items: FromNode<BlockReport>[]) => storeBlockReports(pool, items), { most: 20 });
  const syncs = new Map<string, Promise<unknown>>();
  const regularly = (task: () => Promise<unknown>, everyMs: number) =>
    repeat(task, everyMs, log, 'upkeep of the node link failed; it is tried again');
  const upkeep = [
    regularly(() => removeTombstones(pool), TOMBSTONES_EVERY_MS),
    regularly(() => forgetOrigins(pool), TOMBSTONES_EVERY_MS),
    regularly(() => tidyBlocks(pool), BLOCKS_EVERY_MS),
  ];
  // Environment variables are part of zone documents and may have changed. Equal documents are not published.
  const zoneDocuments = regularly(() => compileZones(pool), ZONES_EVERY_MS);
  upkeep.push(zoneDocuments);
  zoneDocuments.wake();

  async function comeUp(trust: Trust) {
    const introduce = (system: NatsConnection) => pushAccount(pool, system, trust);
    const up = await openBus([env.NATS_URL], trust, introduce, log, stopping.signal);
    bus = up;
    let pushedMark = '';
    const pushRevocations = async () => {
      const mark = await revocationMark(pool);
      if (mark === pushedMark) return;
      await introduce(up.system);
      pushedMark = mark;
    };
    const revocations = regularly(pushRevocations, REVOCATIONS_EVERY_MS);
    revokeNow = pushRevocations;
    const presence = regularly(() => reviewPresence(pool, up, trust.account), REVIEW_EVERY_MS);
    upkeep.push(revocations, presence);

    receive(up, log, {
      subject: everyNode.sync,
      schema: SyncRequest,
      handle: (nodeId, request) =>
        inTurn(syncs, nodeId, () => syncPage(pool, nodeId, request, up.nodes.info?.max_payload ?? 1024 * 1024)),
    });
    receive(up, log, {
      subject: everyNode.ack,
      schema: Ack,
      handle: async (nodeId, message) => {
        await acks.add({ nodeId, message });
        return null;
      },
    });
    receive(up, log, {
      subject: everyNode.heartbeat,
      schema: Heartbeat,
      handle: async (nodeId, message) => {
        const { reply } = await heartbeats.add({ nodeId, message, heardAt: Date.now() });
        commands.wake();
        return reply;
      },
    });
    receive(up, log, {
      subject: everyNode.origins,
      schema: OriginReport,
      handle: async (nodeId, message) => {
        await storeOrigins(pool, nodeId, message);
        return null;
      },
    });
    receive(up, log, {
      subject: everyNode.cached,
      schema: CachedReport,
      handle: async (nodeId, message) => {
        await storeCached(pool, nodeId, message);
        return null;
      },
    });
    receive(up, log, {
      subject: everyNode.upgrade,
      schema: UpgradeReport,
      handle: async (nodeId, message) => {
        await storeUpgradeReport(pool, nodeId, message, new Date());
        return {};
      },
    });
    receive(up, log, {
      subject: everyNode.blocks,
      schema: BlockReport,
      handle: (nodeId, message) => blockReports.add({ nodeId, message }),
    });
    receive(up, log, {
      subject: everyNode.blocksSince,
      schema: BlocksRequest,
      handle: (nodeId, { revision }) => inTurn(syncs, nodeId, () => blocksPage(pool, nodeId, revision)),
    });
    answerKeyQuestions(up, log, { pool, secrets, trust });
    refuseUnknown(up, log);
    watchPresence(pool, up, trust.account, log, wakeJobs);

    // A new server, or one that lost its store, admits no node before this.
    up.onUp('system', () => {
      pushedMark = '';
      revocations.wake();
      presence.wake();
    });
    up.onUp('nodes', () => {
      publisher.wake();
      commands.wake();
      blockPushes.wake();
    });
    log.info({ server: up.nodes.getServer() }, 'nodes can be reached');
  }
  const comingUp =
    trust === null
      ? Promise.resolve()
      : comeUp(trust).catch((error: unknown) => {
          if (!stopping.signal.aborted) log.error({ err: error }, 'the link to the nodes could not be opened');
        });

  const link: NodeLink = {
    async healthy() {
      if (!bus?.isUp()) throw new Error('NATS is out of reach');
      await bus.nodes.flush();
    },
    isUp: () => bus?.isUp() === true,
    order: (nodeId, order) => commands.order(nodeId, order),
    async revoke() {
      // On failure the periodic check repeats it.
      await revokeNow().catch((error: unknown) => log.warn({ err: error }, 'a revocation waits'));
    },
    async stop() {
      stopping.abort();
      links.delete(installation);
      await comingUp;
      await Promise.all(upkeep.map((task) => task.stop()));
      await Promise.all([listener.stop(), publisher.stop(), commands.stop(), preheats.stop(), keptWarm.stop()]);
      await blockPushes.stop();
      await bus?.drain();
      await Promise.all([acks.idle(), heartbeats.idle(), blockReports.idle()]);
      await pool.end();
    },
  };
  links.set(installation, link);
  return link;
}

const compileZones = (pool: pg.Pool) =>
  pool.query(
    `INSERT INTO outbox (zone_id, key) SELECT z.id, 'zone' FROM zones z
     WHERE NOT EXISTS (SELECT FROM outbox o WHERE o.zone_id = z.id AND o.key = 'zone')`,
  );

/** Serializes requests per node. */
async function inTurn<T>(turns: Map<string, Promise<unknown>>, who: string, task: () => Promise<T>): Promise<T> {
  const mine = (turns.get(who) ?? Promise.resolve()).then(task, task);
  turns.set(who, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(who) === mine) turns.delete(who);
  }
}
