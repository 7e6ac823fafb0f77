// Runs a rollout. All state is stored, so another process can resume it. Commands without a reply are repeated, which
// is harmless.
import { randomUUIDv7 } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { verbatim, codedMessage } from '@edgeloom/contract/rollouts/messages.ts';
import type { Pool, PoolClient } from 'pg';
import type { Installation } from '../core/installation.ts';
import { isUnleased, keepLease, LeaseLostError, leases, releaseLease, takeLease, type Lease } from '../core/lease.ts';
import type { Answer, Order } from '../node-link/commands.ts';
import { clean } from '../node-link/incoming.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import { readMetrics, type NodeMetrics } from './metrics-window.ts';
import { RolloutChanges } from './rollout-changes.ts';
import type { Kind, Progress } from './rollout-kind.ts';
import { kinds } from './rollout-kinds.ts';
import type { NodeRecord, RolloutRecord } from './rollout-state.ts';
import { countCustomers, lockRollout, isBlocked, isTaken, saveChanges, ownersOfSites } from './rollout-store.ts';
import type { SampleRequest } from './sampling.ts';
import { advanceRollout } from './state-machine.ts';

const TICK_MS = 1000;
/** At every second check. */
const SAMPLE_MS = 1900;
const GAUGES_MS = 1500;
const RESEND_MS = 3000;
/** Concurrent commands. */
const MAX_CONCURRENT_COMMANDS = 64;

/** The interface to nodes. */
export interface Nodes {
  isUp: () => boolean;
  order: (nodeId: string, order: Order) => Promise<Answer>;
}

export interface Engine {
  installation: Installation;
  nodes: Nodes;
  now: () => Date;
}

/** Concurrent rollouts per operator. */
const MAX_PER_OPERATOR = 10;

/** Claims the oldest unfinished rollout, or a finished one whose offline node returned. Paused ones come last. */
export async function claimRollout(pool: Pool): Promise<Lease | null> {
  const claim = randomUUIDv7();
  const { rows } = await pool.query<{ id: string }>(
    `UPDATE rollouts SET ${takeLease(leases.rollouts, '$1')}
     WHERE id = (
       SELECT r.id FROM rollouts r
       WHERE (r.state IN ('waiting', 'running', 'paused', 'rollingBack')
           OR r.state = 'completed' AND r.kind = 'release' AND r.ended_at > now() - interval '30 days' AND EXISTS (
             SELECT FROM rollout_nodes n LEFT JOIN node_states s ON s.node_id = n.node_id
             WHERE n.rollout_id = r.id AND (n.active OR n.state = 'away' AND s.connected_at IS NOT NULL AND NOT ${isTaken})))
         AND ${isUnleased('r')}
         AND (SELECT count(*) FROM rollouts o WHERE o.client_id = r.client_id AND o.claimed_until > now()) < ${MAX_PER_OPERATOR}
       ORDER BY r.state = 'paused', r.created_at, r.id LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING id`,
    [claim],
  );
  return rows[0] ? { id: rows[0].id, claim } : null;
}

/** Runs until the rollout ends or the process stops. `woken` resolves when there may be news. */
export async function runRollout(
  engine: Engine,
  claimed: Lease,
  stopping: AbortSignal,
  woken: () => Promise<void>,
): Promise<void> {
  const { pool } = engine.installation;
  const lease = keepLease(pool, leases.rollouts, claimed);
  const runner = new RolloutRunner(engine, claimed);
  try {
    while (!stopping.aborted) {
      const news = woken();
      const next = await runner.tick();
      if (next === 'over') break;
      if (next > 0)
        await Promise.race([news, setTimeout(next, undefined, { signal: stopping }).catch(() => undefined)]);
    }
    await releaseLease(pool, leases.rollouts, claimed);
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error;
  } finally {
    lease.stop();
  }
}

/** Runs one rollout. Its in-memory state is expendable. */
export class RolloutRunner {
  readonly #engine: Engine;
  readonly #claimed: Lease;
  #upSince: Date | null = null;
  #sampleRequests: SampleRequest[] = [];
  #sampledAt = -Infinity;
  #isUrgent = false;
  #customers: number | null = null;
  readonly #sentAt = new Map<string, number>();

  constructor(engine: Engine, claimed: Lease) {
    this.#engine = engine;
    this.#claimed = claimed;
  }

  /** Does what is due and returns the milliseconds until the next check. */
  async tick(): Promise<number | 'over'> {
    const { nodes, now } = this.#engine;
    this.#upSince = nodes.isUp() ? (this.#upSince ?? now()) : null;
    const samples = await this.#sample();
    const { rollout, isOver } = await this.#advance(samples);
    if (isOver) return 'over';
    await this.#sendCommands(rollout);
    return this.#isUrgent ? 0 : TICK_MS;
  }

  async #sample(): Promise<Map<string, NodeMetrics | null>> {
    const { installation, nodes, now } = this.#engine;
    const at = now().getTime();
    if (!this.#isUrgent && at - this.#sampledAt < SAMPLE_MS) return new Map();
    if (this.#sampleRequests.length > 0) this.#sampledAt = at;
    const replies = await inParallel(this.#sampleRequests, async ({ nodeId, slowMs }) => {
      const answer = await nodes.order(nodeId, { name: 'gauges', body: { slowMs }, waitMs: GAUGES_MS });
      return { nodeId, gauges: typeof answer === 'string' ? undefined : answer.gauges };
    });
    const sites = replies.flatMap(({ gauges }) => gauges?.since?.sites.map(([site]) => site) ?? []);
    const ownerOf = await ownersOfSites(installation.pool, [...new Set(sites)]);
    return new Map(replies.map(({ nodeId, gauges }) => [nodeId, gauges ? readMetrics(gauges, ownerOf) : null]));
  }

  async #advance(samples: Map<string, NodeMetrics | null>): Promise<{ rollout: RolloutRecord; isOver: boolean }> {
    const { now } = this.#engine;
    return this.#withRollout(async (client, rollout, kind) => {
      const previous = structuredClone(rollout);
      const changes = new RolloutChanges(rollout, now());
      const upSince = this.#upSince;
      // While the control plane is disconnected, no node is evaluated or abandoned.
      if (upSince !== null || rollout.nodes.length === 0) {
        const progress = (await kind.readProgress?.(client, rollout)) ?? new Map<NodeRecord, Progress>();
        for (const [node, { event, message }] of progress)
          changes.transition(node, event, message === null ? null : verbatim(clean(message)));
        this.#customers ??= await countCustomers(client, rollout.id);
        const facts = {
          now: now(),
          customers: this.#customers,
          upSince: upSince ?? now(),
          samples,
          isBlocked: await isBlocked(client, rollout),
        };
        const next = advanceRollout(changes, facts, kind);
        this.#sampleRequests = next.samples;
        this.#isUrgent = next.isUrgent;
      } else {
        this.#sampleRequests = [];
        this.#isUrgent = false;
      }
      if (changes.hasProgressed) await kind.publish?.(client, rollout);
      await saveChanges(client, changes, previous, now());
      const isOver = rollout.endedAt !== null && !rollout.nodes.some(({ active }) => active);
      return { rollout, isOver };
    });
  }

  /** Sends commands to nodes that have not replied. */
  async #sendCommands(rollout: RolloutRecord): Promise<void> {
    const { installation, nodes, now } = this.#engine;
    const commandFor = kinds[rollout.kind].commandFor;
    const at = now().getTime();
    const isDue = ({ orderKey }: NodeRecord) => at - (this.#sentAt.get(orderKey ?? '') ?? -Infinity) >= RESEND_MS;
    const due = rollout.nodes.filter((node) => node.phase === 'asked' && node.isConnected && isDue(node));
    if (!commandFor || due.length === 0 || !nodes.isUp()) return;
    const results = await inParallel(due, async (node) => {
      this.#sentAt.set(node.orderKey ?? '', at);
      const order = await commandFor(installation, rollout, node, now());
      if ('code' in order) return { node, answer: null, refusal: order };
      const answer = await nodes.order(node.nodeId, order);
      const refusal = typeof answer !== 'string' && !answer.ok ? refusalOf(answer.error) : null;
      return { node, answer, refusal };
    });
    await this.#withRollout(async (client, present) => {
      const previous = structuredClone(present);
      const changes = new RolloutChanges(present, now());
      for (const { node, answer, refusal } of results) {
        const same = present.nodes.find(({ nodeId, orderKey }) => nodeId === node.nodeId && orderKey === node.orderKey);
        if (!same || same.phase !== 'asked') continue;
        if (refusal !== null) changes.transition(same, 'failed', refusal);
        // Not subscribed and not connected: nothing has started.
        else if (answer === 'unsubscribed' && !same.isConnected) changes.transition(same, 'offline');
        else if (answer !== null && typeof answer !== 'string') {
          same.phase = 'accepted';
          changes.nodes.add(same);
        }
      }
      await saveChanges(client, changes, previous, now());
    });
  }

  #withRollout<T>(task: (client: PoolClient, rollout: RolloutRecord, kind: Kind) => Promise<T>): Promise<T> {
    const { id, claim } = this.#claimed;
    return withClient(this.#engine.installation.pool, (client) =>
      inTransaction(client, async () => {
        const rollout = await lockRollout(client, id, { claim });
        if (!rollout) throw new LeaseLostError();
        return task(client, rollout, kinds[rollout.kind]);
      }),
    );
  }
}

const refusalOf = (words: string | null | undefined) =>
  words == null ? codedMessage('refused') : verbatim(clean(words));

/** Runs the task for each item with limited concurrency. */
async function inParallel<T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.values();
  const work = async () => {
    for (const item of queue) results.push(await task(item));
  };
  await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_COMMANDS, items.length) }, work));
  return results;
}
