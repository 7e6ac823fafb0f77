// Receives the messages of nodes and stores them. Acks, heartbeats and block reports of many nodes share statements.
import { LogBatch } from '@edgeloom/contract/edge/log-batches.ts';
import {
  Ack,
  BlockReport,
  BlocksRequest,
  CachedReport,
  Heartbeat,
  OriginReport,
  SyncRequest,
} from '@edgeloom/contract/edge/messages.ts';
import { MonitorReport } from '@edgeloom/contract/edge/monitors.ts';
import { UpgradeReport } from '@edgeloom/contract/edge/releases.ts';
import { everyNode } from '@edgeloom/contract/subjects.ts';
import type { Pool } from 'pg';
import type { Bus } from '../core/bus.ts';
import { receiveReport, type AddressPolicy } from '../monitors/reports.ts';
import { storeUpgradeReport } from '../rollouts/upgrade-reports.ts';
import type { DropReport } from '../statistics/kernel-drops.ts';
import type { LogStore } from '../statistics/log-store.ts';
import { storeAcks, storeHeartbeats } from './acks.ts';
import type { ReceivedHeartbeat, FromNode } from './acks.ts';
import { batches } from './batches.ts';
import { blocksPage } from './block-pushes.ts';
import { storeBlockReports } from './block-reports.ts';
import { storeCached } from './cached-reports.ts';
import type { Commands } from './commands.ts';
import { receive, refuseUnknown } from './incoming.ts';
import type { LinkLog } from './log.ts';
import { storeOrigins } from './origin-reports.ts';
import { syncPage } from './sync.ts';

/** Heartbeats are not urgent: of a thousand nodes several arrive in this time. */
const HEARTBEAT_BATCH_MS = 100;
const BLOCK_REPORTS_PER_BATCH = 20;
const DEFAULT_PAYLOAD_BYTES = 1024 * 1024;

export class NodeMessages {
  readonly #pool: Pool;
  readonly #env: AddressPolicy;
  readonly #logStore: LogStore;
  readonly #commands: Pick<Commands, 'wake'>;
  readonly #acks = batches((items: FromNode<Ack>[]) => storeAcks(this.#pool, items));
  readonly #heartbeats = batches((items: ReceivedHeartbeat[]) => storeHeartbeats(this.#pool, items), {
    gatherMs: HEARTBEAT_BATCH_MS,
  });
  readonly #kernelDrops = batches(async (items: DropReport[]) => {
    await this.#logStore.addKernelDrops(items, new Date());
    return items;
  });
  readonly #blockReports = batches((items: FromNode<BlockReport>[]) => storeBlockReports(this.#pool, items), {
    most: BLOCK_REPORTS_PER_BATCH,
  });
  /** The last page that each node requested. */
  readonly #pages = new Map<string, Promise<unknown>>();

  constructor(pool: Pool, env: AddressPolicy, logStore: LogStore, commands: Pick<Commands, 'wake'>) {
    this.#pool = pool;
    this.#env = env;
    this.#logStore = logStore;
    this.#commands = commands;
  }

  subscribe(bus: Bus, log: LinkLog): void {
    this.#subscribeToRequests(bus, log);
    this.#subscribeToReports(bus, log);
    refuseUnknown(bus, log);
  }

  /** Waits until received messages are stored. */
  async idle(): Promise<void> {
    await Promise.all([this.#acks.idle(), this.#heartbeats.idle(), this.#blockReports.idle()]);
    await this.#kernelDrops.idle();
  }

  #subscribeToRequests(bus: Bus, log: LinkLog) {
    receive(bus, log, {
      subject: everyNode.sync,
      schema: SyncRequest,
      handle: (nodeId, request) =>
        this.#inTurn(nodeId, () =>
          syncPage(this.#pool, nodeId, request, bus.nodes.info?.max_payload ?? DEFAULT_PAYLOAD_BYTES),
        ),
    });
    receive(bus, log, {
      subject: everyNode.blocksSince,
      schema: BlocksRequest,
      handle: (nodeId, { revision }) => this.#inTurn(nodeId, () => blocksPage(this.#pool, nodeId, revision)),
    });
  }

  #subscribeToReports(bus: Bus, log: LinkLog) {
    receive(bus, log, {
      subject: everyNode.ack,
      schema: Ack,
      handle: async (nodeId, message) => {
        await this.#acks.add({ nodeId, message });
        return null;
      },
    });
    receive(bus, log, {
      subject: everyNode.heartbeat,
      schema: Heartbeat,
      handle: async (nodeId, message) => {
        const { reply } = await this.#heartbeats.add({ nodeId, message, receivedAt: Date.now() });
        this.#commands.wake();
        // Statistics that wait or fail must not delay the reply: the counters are those since the agent's start.
        if (message.load?.dropped)
          void this.#kernelDrops
            .add({ nodeId, dropped: message.load.dropped })
            .catch((error: unknown) => log.warn({ err: error, node: nodeId }, 'dropped packets were not counted yet'));
        return reply;
      },
    });
    receive(bus, log, {
      subject: everyNode.origins,
      schema: OriginReport,
      handle: async (nodeId, message) => {
        await storeOrigins(this.#pool, nodeId, message);
        return null;
      },
    });
    receive(bus, log, {
      subject: everyNode.cached,
      schema: CachedReport,
      handle: async (nodeId, message) => {
        await storeCached(this.#pool, nodeId, message);
        return null;
      },
    });
    receive(bus, log, {
      subject: everyNode.upgrade,
      schema: UpgradeReport,
      handle: async (nodeId, message) => {
        await storeUpgradeReport(this.#pool, nodeId, message, new Date());
        return {};
      },
    });
    receive(bus, log, {
      subject: everyNode.logs,
      schema: LogBatch,
      handle: (nodeId, batch) => this.#logStore.store(nodeId, batch, new Date()),
    });
    receive(bus, log, {
      subject: everyNode.monitor,
      schema: MonitorReport,
      handle: (monitorId, message) => receiveReport({ pool: this.#pool, env: this.#env }, monitorId, message),
    });
    receive(bus, log, {
      subject: everyNode.blocks,
      schema: BlockReport,
      handle: (nodeId, message) => this.#blockReports.add({ nodeId, message }),
    });
  }

  /** Serializes the pages of a node, which are expensive. */
  async #inTurn<T>(nodeId: string, readPage: () => Promise<T>): Promise<T> {
    const page = (this.#pages.get(nodeId) ?? Promise.resolve()).then(readPage, readPage);
    this.#pages.set(nodeId, page);
    try {
      return await page;
    } finally {
      if (this.#pages.get(nodeId) === page) this.#pages.delete(nodeId);
    }
  }
}
