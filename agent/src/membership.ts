// The node's membership of a zone: joins, moves to another zone, and keeps the link to the control plane.
import { setTimeout } from 'node:timers/promises';
import type { EdgeNode } from './edge-node.ts';
import type { Env } from './env.ts';
import type { Layout } from './layout.ts';
import type { Identity } from './link/identity.ts';
import { join, JoinRefusedError } from './link/join.ts';
import type { Link } from './link/nats.ts';
import type { Log } from './log.ts';
import { version } from './version.ts';

const JOIN_RETRY_MS = 5000;
/** By then the response to the order to move has been sent. */
const MOVE_AFTER_MS = 200;

interface Deps {
  env: Env;
  layout: Layout;
  node: EdgeNode;
  /** Applies the documents on disk to nginx again. */
  refresh: () => Promise<void>;
  /** Discards what belongs to the previous zone besides its documents. */
  forgetZone: () => Promise<void>;
  log: Log;
}

export class Membership {
  readonly #deps: Deps;
  readonly #stopping = new AbortController();
  #identity: Identity | null;
  #link: Link | null = null;
  #openLink: ((identity: Identity) => Link) | null = null;
  #joining: Promise<void> = Promise.resolve();
  #moving: Promise<void> = Promise.resolve();

  /** `identity`: null before the node has joined. */
  constructor(deps: Deps, identity: Identity | null) {
    this.#deps = deps;
    this.#identity = identity;
  }

  /** Null before the node has joined. */
  get link(): Link | null {
    return this.#link;
  }

  get natsServers(): readonly string[] {
    return this.#link?.servers ?? this.#identity?.natsServers ?? [];
  }

  /** Aborts when the agent stops. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Rejects when the control plane refuses the node. Retrying cannot help. */
  get refused(): Promise<never> {
    return this.#joining.then(() => new Promise<never>(() => undefined));
  }

  /** Documents of one zone must not be served in another. */
  async adoptZone(): Promise<void> {
    if (this.#identity !== null) await adoptZone(this.#deps.node, this.#identity);
  }

  /** Joins first if necessary. */
  start(openLink: (identity: Identity) => Link): void {
    this.#openLink = openLink;
    this.#joining = this.#joinAndConnect();
  }

  /** Joins again as a node of another zone and discards everything of the previous zone. */
  async move({ control, token }: { control: string; token: string }): Promise<void> {
    const { env, layout, log } = this.#deps;
    const invitation = { control: env.EDGELOOM_CONTROL ?? control, token, version };
    const identity = await join(layout, invitation, this.#stopping.signal);
    log.info('moved', { nodeID: identity.nodeID, zoneID: identity.zoneID });
    this.#moving = this.#reconnectAs(identity).catch((error: unknown) =>
      log.error('the move was not finished', { error }),
    );
  }

  /** No join and no move begins after this. */
  beginStop(): void {
    this.#stopping.abort();
  }

  /** Waits for a join or a move that is under way. */
  async settle(): Promise<void> {
    await this.#joining.catch(() => undefined);
    await this.#moving;
  }

  async disconnect(): Promise<void> {
    await this.#link?.stop();
  }

  async #joinAndConnect(): Promise<void> {
    if (this.#identity === null) {
      this.#identity = await joinUntilAccepted(this.#deps, this.#stopping.signal);
      if (this.#identity === null) return;
      await this.adoptZone();
      await this.#deps.refresh();
    }
    this.#connect(this.#identity);
  }

  async #reconnectAs(identity: Identity): Promise<void> {
    const { node, refresh, forgetZone } = this.#deps;
    await setTimeout(MOVE_AFTER_MS);
    await this.#link?.stop();
    await node.inTurn(async () => {
      await adoptZone(node, identity);
      await forgetZone();
    });
    await refresh();
    if (!this.#stopping.signal.aborted) this.#connect(identity);
  }

  #connect(identity: Identity): void {
    this.#link = this.#openLink?.(identity) ?? null;
  }
}

async function adoptZone(node: EdgeNode, { nodeID, zoneID }: Identity): Promise<void> {
  node.self = { nodeID, zoneID };
  const structure = await node.structureWith([]).catch(() => null);
  if (structure === null || structure.zone.id === zoneID) return;
  const keys = [...node.store.keys()];
  await node.store.commit(
    keys.map((key) => ({ key, revision: 0, sha256: '', body: null })),
    0,
  );
  await node.bump('all');
}

/** Null when the agent stops first. */
async function joinUntilAccepted(
  { env: { EDGELOOM_CONTROL: control, EDGELOOM_TOKEN: token }, layout, log }: Deps,
  signal: AbortSignal,
): Promise<Identity | null> {
  if (control === undefined || token === undefined) {
    throw new Error('this node has not joined: EDGELOOM_CONTROL and EDGELOOM_TOKEN are needed');
  }
  while (!signal.aborted) {
    try {
      const identity = await join(layout, { control, token, version }, signal);
      log.info('joined', { nodeID: identity.nodeID, zoneID: identity.zoneID });
      return identity;
    } catch (error) {
      if (error instanceof JoinRefusedError)
        throw new Error(`the control plane refused this node: ${error.message}`, { cause: error });
      log.warn('could not join yet', { error });
      await setTimeout(JOIN_RETRY_MS * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined);
    }
  }
  return null;
}
