// The control plane's connection to the nodes. Starts when NATS is available, and survives outages of NATS and
// PostgreSQL.
import { accessLogOf } from '../access-log/open.ts';
import type { NatsConnection } from 'nats';
import pg from 'pg';
import { openBus } from '../core/bus.ts';
import type { Bus } from '../core/bus.ts';
import type { Installation } from '../core/installation.ts';
import { listen } from '../core/listen.ts';
import { watchPool } from '../core/metrics.ts';
import { originPolicy } from '../core/outbound.ts';
import type { Trust } from '../core/trust.ts';
import type { Geoip } from '../geoip/geoip.ts';
import { LogStore } from '../statistics/log-store.ts';
import { retentionOf } from '../statistics/partitions.ts';
import { answerKeyQuestions } from '../zone-keys/give-keys.ts';
import { startBlockPushes } from './block-pushes.ts';
import { startCacheWarmer, type CacheWarmer } from './cache-warmer.ts';
import { startCommands } from './commands.ts';
import type { Answer, Commands, Order } from './commands.ts';
import type { LinkLog } from './log.ts';
import { NodeMessages } from './node-messages.ts';
import { reviewPresence, watchPresence } from './presence.ts';
import { startPreheats, type Preheats } from './preheats.ts';
import { startPublisher, type Publisher } from './publisher.ts';
import { Quarantine } from './quarantine.ts';
import { pushAccount, RevocationList } from './revocations.ts';
import type { Wakeable } from './repeat.ts';
import { regularly, startUpkeep } from './upkeep.ts';

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
const REVIEW_EVERY_MS = 30_000;
const REVOCATIONS_EVERY_MS = 5000;

/** Returns at once. NATS is awaited in the background. */
export function startNodeLink(installation: Installation, geoip: Geoip, log: LinkLog): NodeLink {
  const link = new RunningLink(installation, geoip, log);
  links.set(installation, link);
  return link;
}

class RunningLink implements NodeLink {
  readonly #installation: Installation;
  readonly #log: LinkLog;
  readonly #pool: pg.Pool;
  readonly #publisher: Publisher;
  readonly #commands: Commands;
  readonly #preheats: Preheats;
  readonly #cacheWarmer: CacheWarmer;
  readonly #blockPushes: Wakeable;
  readonly #listener: { stop: () => Promise<void> };
  readonly #messages: NodeMessages;
  readonly #upkeep: Wakeable[];
  readonly #stopping = new AbortController();
  readonly #connecting: Promise<void>;
  /** Null until NATS is reached. */
  #connection: { bus: Bus; revocations: RevocationList } | null = null;

  constructor(installation: Installation, geoip: Geoip, log: LinkLog) {
    const { env, secrets, trust } = installation;
    const pool = openPool(env.DATABASE_URL);
    const bus = () => this.#connection?.bus ?? null;
    this.#installation = installation;
    this.#log = log;
    this.#pool = pool;
    const compiler = { secrets, policy: originPolicy(env), geoPack: geoip.pack };
    this.#publisher = startPublisher({ pool, compiler, bus, quarantine: new Quarantine(), log });
    this.#commands = startCommands(pool, bus, log);
    this.#preheats = startPreheats(pool, bus, log);
    this.#cacheWarmer = startCacheWarmer(pool, bus, log);
    this.#blockPushes = startBlockPushes(pool, bus, log);
    this.#listener = listen(env.DATABASE_URL, {
      outbox: this.#publisher.wake,
      jobs: this.#wakeJobs,
      blocks: this.#blockPushes.wake,
    });
    const logStore = new LogStore(pool, geoip, retentionOf(env), accessLogOf(installation));
    this.#messages = new NodeMessages(pool, env, logStore, this.#commands);
    this.#upkeep = startUpkeep(pool, logStore, geoip, log);
    this.#connecting =
      trust === null
        ? Promise.resolve()
        : this.#connect(trust).catch((error: unknown) => {
            if (!this.#stopping.signal.aborted) log.error({ err: error }, 'the link to the nodes could not be opened');
          });
  }

  async healthy(): Promise<void> {
    if (!this.#connection?.bus.isUp()) throw new Error('NATS is out of reach');
    await this.#connection.bus.nodes.flush();
  }

  isUp(): boolean {
    return this.#connection?.bus.isUp() === true;
  }

  async revoke(): Promise<void> {
    if (this.#connection === null) return;
    const { bus, revocations } = this.#connection;
    // On failure the periodic check repeats it.
    await revocations
      .pushChanges(bus.system)
      .catch((error: unknown) => this.#log.warn({ err: error }, 'a revocation waits'));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    links.delete(this.#installation);
    await this.#connecting;
    await Promise.all(this.#upkeep.map((task) => task.stop()));
    await Promise.all(
      [this.#listener, this.#publisher, this.#commands, this.#preheats, this.#cacheWarmer].map((task) => task.stop()),
    );
    await this.#blockPushes.stop();
    await this.#connection?.bus.drain();
    await this.#messages.idle();
    await this.#pool.end();
  }

  readonly order = (nodeId: string, order: Order): Promise<Answer> => this.#commands.order(nodeId, order);

  readonly #wakeJobs = (): void => {
    this.#commands.wake();
    this.#preheats.wake();
  };

  /** Waits for NATS, then subscribes. Subscriptions survive reconnects. */
  async #connect(trust: Trust): Promise<void> {
    const { env, secrets } = this.#installation;
    const [pool, log] = [this.#pool, this.#log];
    const pushKeys = (system: NatsConnection) => pushAccount(pool, system, trust);
    const bus = await openBus([env.NATS_URL], trust, pushKeys, log, this.#stopping.signal);
    const revocations = new RevocationList(pool, trust);
    this.#connection = { bus, revocations };
    const keys = regularly(() => revocations.pushChanges(bus.system), REVOCATIONS_EVERY_MS, log);
    const presence = regularly(() => reviewPresence(pool, bus, trust.account), REVIEW_EVERY_MS, log);
    this.#upkeep.push(keys, presence);

    this.#messages.subscribe(bus, log);
    answerKeyQuestions(bus, log, { pool, secrets, trust });
    watchPresence(pool, bus, trust.account, log, this.#wakeJobs);

    // A new server, or one that lost its store, admits no node before this.
    bus.onUp('system', () => {
      revocations.forgetPushed();
      keys.wake();
      presence.wake();
    });
    bus.onUp('nodes', () => {
      this.#publisher.wake();
      this.#commands.wake();
      this.#blockPushes.wake();
    });
    log.info({ server: bus.nodes.getServer() }, 'nodes can be reached');
  }
}

function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max: CONNECTIONS,
    connectionTimeoutMillis: 5000,
    application_name: 'edgeloom-node-link',
  });
  pool.on('error', () => undefined);
  watchPool(pool, 'node_link');
  // A checked-out idle connection that breaks emits an error, which would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
