// Simulated nodes for rollouts: each accepts its order and reports when the test wants. The clock is set by hand.
import { randomUUID } from 'node:crypto';
import type { Installation } from '@edgeloom/api/core/installation.ts';
import type { Answer, Order } from '@edgeloom/api/node-link/commands.ts';
import { storeUpgradeReport } from '@edgeloom/api/rollouts/upgrade-reports.ts';
import { RolloutRunner, type Engine } from '@edgeloom/api/rollouts/run-rollout.ts';
export { claimRollout, type RolloutRunner } from '@edgeloom/api/rollouts/run-rollout.ts';
import type { NodeGauges } from '@edgeloom/contract/edge/messages.ts';
import {
  ReleaseManifest,
  RemovePackCommand,
  UpgradeCommand,
  type ReleaseProduct,
  type UpgradeReport,
  type UpgradeState,
} from '@edgeloom/contract/edge/releases.ts';
import type * as z from 'zod';

const SECOND = 1000;
export const START = Date.parse('2026-11-21T12:00:00.000Z');

const Ordered = UpgradeCommand.omit({ id: true, deadline: true });
type Ordered = z.output<typeof Ordered>;
const Removal = RemovePackCommand.omit({ id: true, deadline: true });

interface Traffic {
  requests: number;
  serverErrors: number;
  refused?: number;
  dropped?: number;
  p99Ms: number | null;
  /** Requests above the latency limit. */
  slow?: number;
  /** Traffic by site, included above: requests, 5xx, refused, slow. */
  sites?: Record<string, Visits>;
}
type Visits = [requests: number, serverErrors: number, refused: number, slow: number];

export class FakeNode {
  readonly id: string;
  /** The newest order that the node has received and not carried out. */
  order: Ordered | null = null;
  /** Versions that the node was commanded to install, such as `1.0.0 back` or `no waf`. */
  readonly commands: string[] = [];
  version = '1.0.0';
  isThere = true;
  /** Outcome of the next order. */
  outcome: UpgradeState | 'nothing' = 'complete';
  /** Reason to reject an order, or null. */
  refusal: string | null = null;
  /** Traffic per second. Updated nodes may have different traffic. */
  traffic: (node: FakeNode) => Traffic = () => ({ requests: 100, serverErrors: 0, p99Ms: 20 });
  error: string | null = null;
  nginx: NodeGauges['nginx'] = 'running';
  requests = 1_000_000;
  serverErrors = 100;
  dropped = 0;
  /** Traffic since the last reply. Null: an agent that does not report it by site. */
  since: NonNullable<NodeGauges['since']> | null = { requests: 0, serverErrors: 0, refused: 0, slow: 0, sites: [] };
  /** The order to remove a risk pack, if any. */
  removal: { upgradeID: string; product: ReleaseProduct } | null = null;

  constructor(id: string) {
    this.id = id;
  }
}

export class FakeFleet {
  readonly nodes: readonly FakeNode[];
  readonly #installation: Installation;
  now = START;
  isUp = true;
  /** Called before each step that may fail: a database statement or a message to a node. */
  onStep: (what: string) => void = () => undefined;

  constructor(installation: Installation, ids: readonly string[]) {
    this.#installation = installation;
    this.nodes = ids.map((id) => new FakeNode(id));
  }

  node(id: string): FakeNode {
    const found = this.nodes.find((node) => node.id === id);
    if (!found) throw new Error(`no node ${id}`);
    return found;
  }

  at(i: number): FakeNode {
    const found = this.nodes[i];
    if (!found) throw new Error(`no node ${i}`);
    return found;
  }

  async connect(...nodes: readonly FakeNode[]): Promise<void> {
    for (const { id, version } of nodes) {
      this.node(id).isThere = true;
      const state = {
        connectedAt: this.clock(),
        disconnectedAt: null,
        lastSeenAt: this.clock(),
        version,
        release: 'a'.repeat(64),
        nginx: 'running',
      };
      await this.#installation.db.nodeState.upsert({
        where: { nodeId: id },
        create: { nodeId: id, ...state },
        update: state,
      });
    }
  }

  async disconnect(node: FakeNode): Promise<void> {
    node.isThere = false;
    await this.#installation.db.nodeState.update({
      where: { nodeId: node.id },
      data: { connectedAt: null, disconnectedAt: this.clock() },
    });
  }

  clock = () => new Date(this.now);

  engine(): Engine {
    return {
      installation: this.#installation,
      now: this.clock,
      nodes: {
        isUp: () => this.isUp,
        order: (id, order) => Promise.resolve(this.#receiveCommand(this.node(id), order)),
      },
    };
  }

  #receiveCommand(node: FakeNode, { name, body }: Order): Answer {
    this.onStep(name);
    if (!node.isThere) return 'unsubscribed';
    const answer = { id: node.id, ok: true, error: null, tookMs: 1, objects: 0 };
    if (name === 'gauges') {
      const { dropped, nginx, error } = node;
      const { p99Ms } = node.traffic(node);
      const since = node.since ?? undefined;
      if (since) node.since = { requests: 0, serverErrors: 0, refused: 0, slow: 0, sites: [] };
      const of = { dropped, p99Ms, nginx, error, since };
      return { ...answer, gauges: { at: this.clock().toISOString(), ...of } };
    }
    if (node.refusal !== null) return { ...answer, ok: false, error: node.refusal };
    if (name === 'removePack') {
      node.removal = Removal.parse(body);
      node.commands.push(`no ${node.removal.product}`);
      return answer;
    }
    const order = Ordered.parse(body);
    node.order = order;
    node.commands.push(`${manifestOf(order).version}${order.rollback === true ? ' back' : ''}`);
    return answer;
  }

  /** Nodes with an order carry it out and report. */
  async report(nodes: readonly FakeNode[] = this.nodes): Promise<void> {
    for (const node of nodes) {
      await this.#reportRemoval(node);
      const { order } = node;
      if (!order || !node.isThere || node.outcome === 'nothing') continue;
      const { version } = manifestOf(order);
      const isBack = order.rollback === true;
      const outcome = isBack ? 'complete' : node.outcome;
      await this.#reportState(node, order, 'switching');
      if (outcome === 'complete') node.version = version;
      node.order = null;
      await this.#reportState(node, order, outcome, outcome === 'complete' ? '' : 'it did not come up');
      await this.connect(node);
    }
  }

  async #reportRemoval(node: FakeNode): Promise<void> {
    const { removal } = node;
    if (!removal || !node.isThere) return;
    node.removal = null;
    await this.store(node, { ...removal, version: node.version, state: 'complete', message: '' });
  }

  #reportState(node: FakeNode, order: Ordered, state: UpgradeState, message = ''): Promise<void> {
    const { product, version } = manifestOf(order);
    return this.store(node, { upgradeID: order.upgradeID, product, version, state, message });
  }

  /** Stores a report of the node. */
  store({ id }: FakeNode, report: Omit<UpgradeReport, 'at'>): Promise<void> {
    return storeUpgradeReport(this.#installation.pool, id, { ...report, at: this.clock().toISOString() }, this.clock());
  }

  /** Starts a process that takes the rollout over, as after a crash. */
  async runner(id: string, installation: Installation = this.#installation): Promise<RolloutRunner> {
    const claim = randomUUID();
    await this.#installation.pool.query(
      `UPDATE rollouts SET claimed_by = $2, claimed_until = now() + interval '1 hour' WHERE id = $1`,
      [id, claim],
    );
    return new RolloutRunner({ ...this.engine(), installation }, { id, claim });
  }

  /** Adds traffic and advances the clock. */
  pass(seconds: number): void {
    this.now += seconds * SECOND;
    for (const node of this.nodes) {
      const { requests, serverErrors, refused = 0, slow = 0, dropped = 0, sites = {} } = node.traffic(node);
      node.requests += requests * seconds;
      node.serverErrors += serverErrors * seconds;
      node.dropped += dropped * seconds;
      if (!node.since) continue;
      const rows = Object.entries(sites).map(([site, visits]): NonNullable<NodeGauges['since']>['sites'][number] => [
        site,
        visits[0] * seconds,
        visits[1] * seconds,
        visits[2] * seconds,
        visits[3] * seconds,
      ]);
      node.since = {
        requests: node.since.requests + requests * seconds,
        serverErrors: node.since.serverErrors + serverErrors * seconds,
        refused: node.since.refused + refused * seconds,
        slow: node.since.slow + slow * seconds,
        sites: [...node.since.sites, ...rows],
      };
    }
  }
}

const manifestOf = ({ release }: Ordered) => ReleaseManifest.parse(JSON.parse(release.manifest));
