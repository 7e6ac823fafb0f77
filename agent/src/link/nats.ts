// The node's connection to the control plane. Outages are normal and never end the agent.
import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { DocKey } from '@edgeloom/contract/edge/documents.ts';
import {
  BlockPush,
  BlockReply,
  BlocksReply,
  DocEntry,
  DocPush,
  HeartbeatReply,
  Refused,
  SyncReply,
} from '@edgeloom/contract/edge/messages.ts';
import type {
  Ack,
  BlockReport,
  CachedReport,
  Heartbeat,
  NodeLoad,
  OriginReport,
  SyncRequest,
} from '@edgeloom/contract/edge/messages.ts';
import type { UpgradeReport } from '@edgeloom/contract/edge/releases.ts';
import { LogReply } from '@edgeloom/contract/edge/log-batches.ts';
import type { LogBatch } from '@edgeloom/contract/edge/log-batches.ts';
import { subjects } from '@edgeloom/contract/subjects.ts';
import { Events } from 'nats';
import type { Msg, NatsConnection } from 'nats';
import * as z from 'zod';
import type { Log } from '../log.ts';
import { askForKeys } from './ask-for-keys.ts';
import { runCommand } from './commands.ts';
import type { CommandHandlers } from './commands.ts';
import { connectToNats } from './connect.ts';
import { Follower } from './follower.ts';
import type { Target } from './follower.ts';
import { HeartbeatTimer } from './heartbeat-timer.ts';
import type { Identity } from './identity.ts';
import { KeyFollower } from './key-follower.ts';
import type { HeldKeys } from './key-follower.ts';

const BLOCKS_TIMEOUT_MS = 30_000;
const KEYS_TIMEOUT_MS = 10_000;
const LOGS_TIMEOUT_MS = 30_000;
const HEARTBEAT_INTERVAL_MS = 30_000;
const HEARTBEAT_TIMEOUT_MS = 5000;
/** Delay of the next heartbeat after a differing reply: time for documents in transit to arrive. */
const HEARTBEAT_COMPARE_MS = 1000;
const HEARTBEAT_RETRY_MS = 5000;
const RECONNECT_MS = 1000;
const STOP_TIMEOUT_MS = 1000;

/** The connected node: a real or a simulated one. */
export interface LinkedNode extends Target {
  identity: Identity;
  zoneKeys: HeldKeys;
  commandHandlers: Omit<CommandHandlers, 'resync' | 'reset' | 'zoneKeys'> & {
    /** Resets the node. `fetchAll` runs a full sync. */
    reset: (fetchAll: () => Promise<void>) => Promise<void>;
  };
  /** Everything but the revision, which the connection adds. */
  health: () => Omit<Heartbeat, 'revision'>;
  /** Receives the zone's block set. */
  blocks?: { pushed: (push: BlockPush) => void; connected: () => void };
  /** How busy the machine is. */
  load?: () => Promise<NodeLoad>;
  /** Housekeeping before each heartbeat. */
  chores?: () => Promise<ChoresResult>;
}

export interface ChoresResult {
  /** First revision whose documents were lost, if any. */
  lostFrom: number | null;
  /** The outcome of retried documents. */
  ack: Ack | null;
}

export class Link {
  readonly #node: LinkedNode;
  readonly #log: Log;
  readonly #follower: Follower;
  readonly #keys: KeyFollower;
  readonly #heartbeats = new HeartbeatTimer(() => this.#heartbeat());
  readonly #stop = new AbortController();
  readonly #lifecycle: Promise<void>;
  #line: NatsConnection | null = null;
  /** Aborted when the connection breaks. */
  #connection = new AbortController();

  #isConfirmed = false;
  #comparedAt = Number.NEGATIVE_INFINITY;

  /** Connects when possible, and retries without end. */
  constructor(node: LinkedNode, log: Log) {
    this.#node = node;
    this.#log = log;
    const line = {
      sync: (request: SyncRequest, timeoutMs: number) => this.#sync(request, timeoutMs),
      ack: (ack: Ack) => this.#ack(ack),
      compareSoon: () => this.#compareSoon(),
    };
    const target: Target = {
      get revision() {
        return node.revision;
      },
      get digest() {
        return node.digest;
      },
      get zoneDigest() {
        return node.zoneDigest;
      },
      keys: () => node.keys(),
      apply: async (entries, reached) => {
        await this.#keys.prepare(entries);
        return node.apply(entries, reached);
      },
      inSync: (full) => node.inSync?.(full),
    };
    this.#keys = new KeyFollower({
      held: node.zoneKeys,
      ask: () =>
        askForKeys(node.identity, (message) =>
          this.#ask(subjects.keys(node.identity.nodeID), message, KEYS_TIMEOUT_MS),
        ),
      changed: () => this.heartbeatNow(),
      stopping: this.#stop.signal,
      log,
    });
    this.#follower = new Follower(target, line, log);
    this.#lifecycle = this.#run();
  }

  /** Sends a heartbeat now, because its content changed. Without a confirmed state the next retry contains it. */
  heartbeatNow(): void {
    if (this.#isConfirmed || this.#heartbeats.isUnderWay) this.#heartbeats.sendNow();
  }

  /** At most once a second, since each older push requests it. */
  #compareSoon(): void {
    if (!this.#isConfirmed || performance.now() < this.#comparedAt + HEARTBEAT_COMPARE_MS) return;
    this.#comparedAt = performance.now();
    this.#heartbeats.sendNow();
  }

  get servers(): readonly string[] {
    return this.#node.identity.natsServers;
  }

  get isConnected(): boolean {
    return this.#line !== null && !this.#connection.signal.aborted;
  }

  /** The control plane knows the node's state, and the node has every document of its zone. */
  get isInSync(): boolean {
    return this.#isConfirmed && !this.#follower.syncing;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#heartbeats.stop();
    const line = this.#line;
    // A batch in progress may finish and be acked. Closing the connection ends requests to a silent server.
    const ended = this.#follower.stop();
    await atMost(STOP_TIMEOUT_MS, ended);
    await atMost(
      STOP_TIMEOUT_MS,
      line?.drain().catch(() => undefined),
    );
    await line?.close();
    await ended;
    await this.#lifecycle;
    await this.#keys.settled();
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        this.#line = await connectToNats(this.#node.identity);
        if (this.#stop.signal.aborted) await this.#line.close();
        else await this.#useConnection(this.#line);
      } catch (error) {
        this.#log.warn('no connection to the control plane', { error });
      }
      this.#down();
      this.#line = null;
      await sleep(RECONNECT_MS * (0.5 + Math.random()), this.#stop.signal);
    }
  }

  /** Returns when the connection is closed and will not reconnect. */
  async #useConnection(line: NatsConnection): Promise<void> {
    this.#subscribe(line);
    this.#up(line);
    void this.#watch(line);
    const error = await line.closed();
    if (error instanceof Error) throw error;
  }

  /** The client never ends this iterator, so no caller waits for it. */
  async #watch(line: NatsConnection): Promise<void> {
    for await (const { type } of line.status()) {
      if (type === Events.Reconnect) this.#up(line);
      if (type === Events.Disconnect) {
        this.#down();
        if (!this.#stop.signal.aborted) this.#log.warn('lost the control plane');
      }
    }
  }

  #up(line: NatsConnection): void {
    this.#log.info('connected to the control plane', { server: line.getServer() });
    this.#connection = new AbortController();
    this.#follower.connected();
    this.#node.blocks?.connected();
    this.#heartbeats.start();
  }

  #down(): void {
    this.#isConfirmed = false;
    this.#connection.abort();
    this.#heartbeats.stop();
    this.#follower.disconnected();
  }

  /** Subscriptions survive reconnects: the client renews them. */
  #subscribe(line: NatsConnection): void {
    const { nodeID, zoneID } = this.#node.identity;
    const subscribe = (subject: string, task: (message: Msg) => void | Promise<void>) => {
      const handleMessage = async (message: Msg) => {
        try {
          await task(message);
        } catch (error) {
          this.#log.warn('a message could not be used', { subject, error });
        }
      };
      const callback = (error: Error | null, message: Msg) => {
        if (error === null) void handleMessage(message);
        else this.#log.error('a subscription failed', { subject, error });
      };
      line.subscribe(subject, { callback });
    };
    subscribe(subjects.zoneDocs(zoneID), (message) => {
      const push = readPush(message);
      // An unreadable message was damaged in transit.
      if (push === null) this.#follower.catchUp();
      else if (push.zone === zoneID) this.#follower.push(push);
    });
    subscribe(subjects.zoneBlocks(zoneID), (message) => this.#node.blocks?.pushed(BlockPush.parse(message.json())));
    const resync = () => this.#follower.resync();
    const zoneKeys = () => this.#keys.take();
    const handlers: CommandHandlers = {
      ...this.#node.commandHandlers,
      resync,
      zoneKeys,
      reset: () => this.#node.commandHandlers.reset(resync),
    };
    // All command names: an unknown command gets an error instead of silence.
    subscribe(subjects.command(nodeID, '*'), async (message) => {
      const name = message.subject.split('.').at(-1) ?? '';
      message.respond(JSON.stringify(await runCommand(name, message.json(), handlers)));
    });
  }

  async #sync(request: SyncRequest, timeoutMs: number): Promise<SyncReply> {
    return readSync(await this.#ask(subjects.sync(this.#node.identity.nodeID), request, timeoutMs));
  }

  /** A report lost with the connection is repaired by the next one, a minute later. */
  reportOrigins(report: OriginReport): void {
    this.#line?.publish(subjects.origins(this.#node.identity.nodeID), JSON.stringify(report));
  }

  /** A lost report is repaired by the next pass over the store. */
  reportCached(report: CachedReport): void {
    this.#line?.publish(subjects.cached(this.#node.identity.nodeID), JSON.stringify(report));
  }

  /** Resolves when the control plane has responded. */
  async reportBlocks(report: BlockReport): Promise<BlockReply> {
    return BlockReply.parse(await this.#ask(subjects.blocks(this.#node.identity.nodeID), report, HEARTBEAT_TIMEOUT_MS));
  }

  /** Resolves when the control plane has stored the lines. */
  async sendLogs(batch: LogBatch): Promise<LogReply> {
    return LogReply.parse(await this.#ask(subjects.logs(this.#node.identity.nodeID), batch, LOGS_TIMEOUT_MS));
  }

  async blocksSince(revision: number): Promise<BlocksReply> {
    const { nodeID } = this.#node.identity;
    return BlocksReply.parse(await this.#ask(subjects.blocksSince(nodeID), { revision }, BLOCKS_TIMEOUT_MS));
  }

  /** Resolves when the control plane has acknowledged it. */
  async reportUpgrade(report: UpgradeReport): Promise<void> {
    await this.#ask(subjects.upgrade(this.#node.identity.nodeID), report, HEARTBEAT_TIMEOUT_MS);
  }

  /** A lost ack is repaired by the next heartbeat. */
  #ack(ack: Ack): void {
    this.#line?.publish(subjects.ack(this.#node.identity.nodeID), JSON.stringify(ack));
  }

  async #ask(subject: string, body: object, withinMs: number): Promise<unknown> {
    if (this.#line === null) throw new Error('not connected');
    const answer = this.#line.request(subject, JSON.stringify(body), { timeout: withinMs });
    // A response that the broken connection lost never arrives. The next connection may request again.
    const message: unknown = (await unless(this.#connection.signal, answer)).json();
    const { data } = Refused.safeParse(message);
    if (data !== undefined) throw new Error(data.refused);
    return message;
  }

  /** Returns the pause before the next one. */
  async #heartbeat(): Promise<number> {
    const node = this.#node;
    const follower = this.#follower;
    try {
      // During a sync the disk may be ahead of the known revision, and a comparison would report missing documents.
      // Both are done shortly after.
      const isEarly = follower.syncing;
      if (!isEarly) await this.#chores();
      const load = await node.load?.().catch(() => undefined);
      const { revision, digest } = node;
      const health = node.health();
      const message: Heartbeat = {
        ...health,
        revision,
        error: health.error ?? follower.error,
        ...(load && { load }),
        clock: new Date().toISOString(),
        keys: await node.zoneKeys.ids(),
      };
      const answer = await this.#ask(subjects.heartbeat(node.identity.nodeID), message, HEARTBEAT_TIMEOUT_MS);
      const reply = HeartbeatReply.parse(answer);
      this.#isConfirmed = true;
      if (!isEarly && !follower.syncing) follower.compare({ revision, digest }, reply);
      void this.#keys
        .compare(message, reply)
        .catch((error: unknown) => this.#log.warn('the zone keys were not received yet', { error }));
      // Jitter, so that nodes that lost the same server do not send in step.
      const isDone = !isEarly && !follower.syncing && !follower.differs;
      return isDone ? HEARTBEAT_INTERVAL_MS * (0.9 + Math.random() * 0.2) : HEARTBEAT_COMPARE_MS;
    } catch (error) {
      this.#log.warn('no reply to a heartbeat', { error });
      return HEARTBEAT_RETRY_MS;
    }
  }

  async #chores(): Promise<void> {
    const done = await this.#node.chores?.();
    if (typeof done?.lostFrom === 'number') this.#follower.ask(done.lostFrom);
    if (done?.ack) this.#ack(done.ack);
  }
}

const LooseSync = SyncReply.extend({ docs: z.array(z.unknown()) });
const Named = z.object({ key: DocKey, revision: z.int().min(0) });

function readPush(message: Msg): DocPush | null {
  try {
    return DocPush.parse(message.json());
  } catch {
    return null;
  }
}

/** An unreadable entry must not block the others. It continues with a wrong hash and is rejected by name. */
function readSync(message: unknown): SyncReply {
  const page = LooseSync.parse(message);
  return { ...page, docs: page.docs.flatMap((entry) => DocEntry.safeParse(entry).data ?? toRejectable(entry)) };
}

function toRejectable(entry: unknown): DocEntry[] {
  const named = Named.safeParse(entry);
  return named.success ? [{ ...named.data, sha256: '0'.repeat(64), body: '' }] : [];
}

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  setTimeoutPromise(ms, undefined, { signal }).catch(() => undefined);

async function atMost(ms: number, work: Promise<unknown> | undefined): Promise<void> {
  const late = new AbortController();
  await Promise.race([work, sleep(ms, late.signal)]);
  late.abort();
}

function unless(signal: AbortSignal, work: Promise<Msg>): Promise<Msg> {
  return new Promise((resolve, reject) => {
    const lost = () => reject(new Error('the connection was lost'));
    if (signal.aborted) lost();
    signal.addEventListener('abort', lost);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', lost));
  });
}
