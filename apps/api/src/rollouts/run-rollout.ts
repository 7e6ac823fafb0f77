// Runs a rollout. All state is stored, so another process can resume it. Commands without a reply are repeated, which
// is harmless.
import { randomUUIDv7 } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { ownWords, saying } from '@edgeloom/contract/rollouts/sayings.ts';
import type { Pool, PoolClient } from 'pg';
import type { Installation } from '../core/installation.ts';
import { isUnleased, keepLease, LeaseLostError, leases, releaseLease, takeLease, type Lease } from '../core/lease.ts';
import type { Answer, Order } from '../node-link/commands.ts';
import { clean } from '../node-link/incoming.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import { answered, type Answered } from './gauged.ts';
import type { Kind, Progress } from './kind.ts';
import { kinds } from './kinds.ts';
import type { NodeNow, RolloutNow } from './now.ts';
import { customersOf, holdRollout, isBehind, isTaken, keepTurn, ownersOf } from './rows.ts';
import { takeTurn, Turn, type Wanted } from './turn.ts';

const LOOK_MS = 1000;
/** At every second check. */
const SAMPLE_MS = 1900;
const GAUGES_MS = 1500;
const ASK_AGAIN_MS = 3000;
/** Concurrent commands. */
const AT_ONCE = 64;

/** The interface to nodes. */
export interface Nodes {
  isUp: () => boolean;
  order: (nodeId: string, order: Order) => Promise<Answer>;
}

export interface Engine {
  here: Installation;
  nodes: Nodes;
  now: () => Date;
}

/** Concurrent rollouts per operator. */
const MOST_OF_ONE = 10;

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
         AND (SELECT count(*) FROM rollouts o WHERE o.client_id = r.client_id AND o.claimed_until > now()) < ${MOST_OF_ONE}
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
  const { pool } = engine.here;
  const lease = keepLease(pool, leases.rollouts, claimed);
  const carrier = new Carrier(engine, claimed);
  try {
    while (!stopping.aborted) {
      const news = woken();
      const next = await carrier.look();
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
export class Carrier {
  readonly #engine: Engine;
  readonly #claimed: Lease;
  #upSince: Date | null = null;
  #wanted: Wanted[] = [];
  #sampledAt = -Infinity;
  #isUrgent = false;
  #customers: number | null = null;
  readonly #askedAt = new Map<string, number>();

  constructor(engine: Engine, claimed: Lease) {
    this.#engine = engine;
    this.#claimed = claimed;
  }

  /** Does what is due and returns the milliseconds until the next check. */
  async look(): Promise<number | 'over'> {
    const { nodes, now } = this.#engine;
    this.#upSince = nodes.isUp() ? (this.#upSince ?? now()) : null;
    const samples = await this.#sample();
    const { rollout, isOver } = await this.#turn(samples);
    if (isOver) return 'over';
    await this.#ask(rollout);
    return this.#isUrgent ? 0 : LOOK_MS;
  }

  async #sample(): Promise<Map<string, Answered | null>> {
    const { here, nodes, now } = this.#engine;
    const at = now().getTime();
    if (!this.#isUrgent && at - this.#sampledAt < SAMPLE_MS) return new Map();
    if (this.#wanted.length > 0) this.#sampledAt = at;
    const said = await inParallel(this.#wanted, async ({ nodeId, slowMs }) => {
      const answer = await nodes.order(nodeId, { name: 'gauges', body: { slowMs }, waitMs: GAUGES_MS });
      return { nodeId, gauges: typeof answer === 'string' ? undefined : answer.gauges };
    });
    const sites = said.flatMap(({ gauges }) => gauges?.since?.sites.map(([site]) => site) ?? []);
    const ownerOf = await ownersOf(here.pool, [...new Set(sites)]);
    return new Map(said.map(({ nodeId, gauges }) => [nodeId, gauges ? answered(gauges, ownerOf) : null]));
  }

  async #turn(samples: Map<string, Answered | null>): Promise<{ rollout: RolloutNow; isOver: boolean }> {
    const { now } = this.#engine;
    return this.#holding(async (client, rollout, kind) => {
      const was = structuredClone(rollout);
      const turn = new Turn(rollout, now());
      const upSince = this.#upSince;
      // While the control plane is disconnected, no node is judged or abandoned.
      if (upSince !== null || rollout.nodes.length === 0) {
        const progress = (await kind.look?.(client, rollout)) ?? new Map<NodeNow, Progress>();
        for (const [node, { event, message }] of progress)
          turn.happen(node, event, message === null ? null : ownWords(clean(message)));
        this.#customers ??= await customersOf(client, rollout.id);
        const facts = {
          now: now(),
          customers: this.#customers,
          upSince: upSince ?? now(),
          samples,
          isBehind: await isBehind(client, rollout),
        };
        takeTurn(turn, facts, kind);
      }
      if (turn.isNews) await kind.tell?.(client, rollout);
      await keepTurn(client, turn, was, now());
      this.#wanted = turn.wanted;
      this.#isUrgent = turn.isUrgent;
      const isOver = rollout.endedAt !== null && !rollout.nodes.some(({ active }) => active);
      return { rollout, isOver };
    });
  }

  /** Sends commands to nodes that have not replied. */
  async #ask(rollout: RolloutNow): Promise<void> {
    const { here, nodes, now } = this.#engine;
    const orderOf = kinds[rollout.kind].order;
    const at = now().getTime();
    const isDue = ({ orderKey }: NodeNow) => at - (this.#askedAt.get(orderKey ?? '') ?? -Infinity) >= ASK_AGAIN_MS;
    const due = rollout.nodes.filter((node) => node.phase === 'asked' && node.isConnected && isDue(node));
    if (!orderOf || due.length === 0 || !nodes.isUp()) return;
    const said = await inParallel(due, async (node) => {
      this.#askedAt.set(node.orderKey ?? '', at);
      const order = await orderOf(here, rollout, node, now());
      if ('code' in order) return { node, answer: null, refusal: order };
      const answer = await nodes.order(node.nodeId, order);
      const refusal = typeof answer !== 'string' && !answer.ok ? refusalOf(answer.error) : null;
      return { node, answer, refusal };
    });
    await this.#holding(async (client, present) => {
      const was = structuredClone(present);
      const turn = new Turn(present, now());
      for (const { node, answer, refusal } of said) {
        const same = present.nodes.find(({ nodeId, orderKey }) => nodeId === node.nodeId && orderKey === node.orderKey);
        if (!same || same.phase !== 'asked') continue;
        if (refusal !== null) turn.happen(same, 'failed', refusal);
        // Not subscribed and not connected: nothing has started.
        else if (answer === 'unsubscribed' && !same.isConnected) turn.happen(same, 'notThere');
        else if (answer !== null && typeof answer !== 'string') {
          same.phase = 'accepted';
          turn.nodes.add(same);
        }
      }
      await keepTurn(client, turn, was, now());
    });
  }

  #holding<T>(task: (client: PoolClient, rollout: RolloutNow, kind: Kind) => Promise<T>): Promise<T> {
    const { id, claim } = this.#claimed;
    return withClient(this.#engine.here.pool, (client) =>
      inTransaction(client, async () => {
        const rollout = await holdRollout(client, id, { claim });
        if (!rollout) throw new LeaseLostError();
        return task(client, rollout, kinds[rollout.kind]);
      }),
    );
  }
}

const refusalOf = (words: string | null | undefined) => (words == null ? saying('refused') : ownWords(clean(words)));

/** Runs the task for each item with limited concurrency. */
async function inParallel<T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.values();
  const work = async () => {
    for (const item of queue) results.push(await task(item));
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work));
  return results;
}
