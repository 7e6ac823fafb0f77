// This node: its documents, nginx trees and nginx, and the steps that turn documents into a running nginx.
import { nodeKey, parseDoc, servesLayer, zoneFor } from '@edgeloom/contract/edge/documents.ts';
import type { NginxState } from '@edgeloom/contract/edge/messages.ts';
import { reason } from './log.ts';
import type { Log } from './log.ts';
import type { Admin } from './nginx/admin.ts';
import { nodeTree } from './nginx/node-tree.ts';
import type { Structure } from './nginx/node-tree.ts';
import { ReloadTooSoonError } from './nginx/pace.ts';
import { storeZonePair } from './nginx/zone-pair.ts';
import { assertFree, listenersIn, nameOf } from './nginx/sockets.ts';
import type { Listener, Socket } from './nginx/sockets.ts';
import type { Nginx } from './nginx/supervisor.ts';
import type { TreeServer } from './nginx/tree-server.ts';
import type { Tree } from './nginx/trees.ts';
import type { Self } from './plan.ts';
import { http3Ports } from './render/http3.ts';
import type { HostFacts } from './render/input.ts';
import type { CachePlace } from './store/cache-place.ts';
import type { Change, DocumentStore } from './store/documents.ts';

/** A reload or restart finishes within this many attempts. */
const MAX_BUMP_TRIES = 3;

export class EdgeNode {
  /** Empty before the node has joined. */
  self: Self = { nodeID: '', zoneID: '' };
  readonly store: DocumentStore;
  readonly admin: Admin;
  readonly #server: TreeServer;
  readonly #cachePlace: CachePlace;
  readonly #host: HostFacts;
  readonly #log: Log;
  /** Served last, or on disk when the agent started. */
  #structure: Structure | null = null;
  /** The sockets of the running nginx. Null before a tree has served. */
  #listeners: readonly Listener[] | null = null;
  /** The last bump failed, so the next one covers all documents. */
  #isBumpPending = false;
  #queue: Promise<unknown> = Promise.resolve();
  /** The last structural change was rolled back. */
  rolledBack = false;
  /** Called for every changed document after it is on disk. */
  onChanged: (keys: readonly string[] | 'all') => void = () => undefined;
  /** Set by the watchdog of nginx. */
  unresponsive: () => boolean = () => false;
  /** Why nginx does not serve the documents. */
  error: string | null = null;

  constructor(parts: {
    server: TreeServer;
    cachePlace: CachePlace;
    admin: Admin;
    store: DocumentStore;
    host: HostFacts;
    log: Log;
  }) {
    this.store = parts.store;
    this.admin = parts.admin;
    this.#server = parts.server;
    this.#cachePlace = parts.cachePlace;
    this.#host = parts.host;
    this.#log = parts.log;
  }

  get nginx(): Nginx {
    return this.#server.nginx;
  }

  get state(): NginxState {
    if (!this.nginx.running) return 'stopped';
    if (this.unresponsive()) return 'unresponsive';
    return this.rolledBack ? 'rolledBack' : 'running';
  }

  /** Ports of the running nginx where connections begin with a PROXY header. */
  get proxyProtocolPorts(): number[] {
    return (this.#listeners ?? []).flatMap(({ port, proxyProtocol }) => (proxyProtocol ? port : []));
  }

  /** The tree that nginx runs. Empty before nginx runs. */
  async tree(): Promise<{ generation: number | null; tree: Tree }> {
    const { trees } = this.#server;
    const generation = await trees.marked('current');
    return { generation, tree: generation === null ? new Map() : await trees.read(generation) };
  }

  /** Serves the documents on disk. Without a zone document, serves the last tree. */
  async serve(): Promise<void> {
    await this.#server.trees.prune();
    const structure = await this.#structureOnDisk();
    this.#structure = structure;
    await this.#readListeners();
    await this.#serve(structure).catch((error: unknown) => {
      this.#log.error('nginx does not serve the documents on disk', { error });
    });
  }

  /** The structure with these changes applied. Null before there is a zone. */
  async structureWith(changes: readonly Change[]): Promise<Structure | null> {
    const body = async (key: string) => {
      const change = changes.find((one) => one.key === key);
      return change === undefined ? this.store.read(key).catch(() => null) : change.body;
    };
    const own = nodeKey(this.self.nodeID);
    const [zoneBody, trialBody, nodeBody] = await Promise.all([body('zone'), body('trial'), body(own)]);
    if (zoneBody === null) return null;
    const zone = parseDoc('zone', zoneBody);
    const trial = trialBody === null ? null : parseDoc('trial', trialBody);
    const node = nodeBody === null ? null : parseDoc(own, nodeBody);
    if (zone.kind !== 'zone' || (trial !== null && trial.kind !== 'trial') || (node !== null && node.kind !== 'node'))
      throw new Error('unexpected kind of document');
    // The renderer has no clock, so whether a drain has ended is decided here.
    const effective = zoneFor(this.self.nodeID, zone, trial);
    return { zone: effective, node: node && { ...node, enabled: servesLayer(node, '7', new Date()) } };
  }

  /**
   * Makes nginx serve this structure. On failure the last good tree keeps serving and the reason is thrown.
   * A structure that renders to the served tree changes nothing. `mayWait`: throws `ReloadTooSoonError` if reloads come
   * too fast.
   */
  async restructure(structure: Structure, mayWait = false): Promise<void> {
    try {
      await storeZonePair(this.#host.dir);
      const rollBackCache = await this.#cachePlace.enter(structure.node?.cacheDir);
      await this.#server
        .serve(
          (generation) => nodeTree(structure, generation, this.#host),
          async () => {
            if (mayWait && !(await this.#server.pace.isDue())) throw new ReloadTooSoonError();
            await this.#assertPortsFree(structure);
          },
          structure.node?.enabled === false,
        )
        .catch(async (error: unknown) => {
          await rollBackCache();
          throw error;
        });
      this.#cachePlace.settle();
      await this.#markServed(structure);
    } catch (error) {
      if (error instanceof ReloadTooSoonError) throw error;
      this.error = reason(error);
      this.rolledBack = true;
      throw error;
    }
  }

  /**
   * When it resolves, no request is answered from an older document. A stopped nginx has nothing to invalidate.
   * A failed bump is repeated with the next documents.
   */
  async bump(keys: readonly string[] | 'all'): Promise<void> {
    const wanted = this.#isBumpPending ? 'all' : keys;
    if (wanted.length === 0) return;
    this.onChanged(keys);
    this.#isBumpPending = true;
    for (let tries = 1; this.nginx.running; tries += 1) {
      try {
        await this.admin.bump(wanted);
        break;
      } catch (error) {
        if (tries >= MAX_BUMP_TRIES && (await this.nginx.find()) !== null) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    this.#isBumpPending = false;
  }

  /** For changes other than documents: nginx was restarted, or the zone's key changed. */
  async refresh(): Promise<void> {
    await this.#serve(await this.#structureOnDisk());
  }

  /** Serializes all changes of documents and nginx. */
  inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(task);
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async #serve(structure: Structure | null): Promise<void> {
    const good = await this.#server.trees.marked('good');
    if (structure !== null) await this.restructure(structure);
    else if (good !== null) await this.#server.ensureServing(good);
    // Documents written just before a kill may not have been announced to nginx.
    await this.bump('all');
  }

  async #structureOnDisk(): Promise<Structure | null> {
    try {
      return await this.structureWith([]);
    } catch (error) {
      this.error = reason(error);
      this.#log.error('the structure on disk is damaged', { error });
      return null;
    }
  }

  async #markServed(structure: Structure): Promise<void> {
    await this.#readListeners();
    this.#structure = structure;
    this.rolledBack = false;
    this.error = null;
  }

  /** From the last good tree, since the documents on disk may be newer than the running nginx. */
  async #readListeners(): Promise<void> {
    const { trees } = this.#server;
    const good = await trees.marked('good');
    const text = good === null ? undefined : (await trees.read(good)).get('listeners.conf');
    this.#listeners = text === undefined ? null : listenersIn(text);
  }

  /** nginx would retry for seconds before it refuses. Checking first is immediate and names the port. */
  async #assertPortsFree(structure: Structure): Promise<void> {
    await Promise.all(this.#unopened(structure).map(assertFree));
  }

  /** The ports among these that another program holds, so that this node could not serve them. */
  async heldPorts(ports: Structure['zone']['ports']): Promise<number[]> {
    const structure = this.#structure;
    if (structure === null) return [];
    const held = new Set<number>();
    const unopened = this.#unopened({ ...structure, zone: { ...structure.zone, ports } });
    await Promise.all(unopened.map((socket) => assertFree(socket).catch(() => held.add(socket.port))));
    return [...held];
  }

  /** Sockets that nginx would have to open for this structure. */
  #unopened(structure: Structure): Socket[] {
    // Without nginx, orphaned workers may hold the ports. Starting nginx ends them.
    if (!this.nginx.running || this.#listeners === null) return [];
    const served = this.#listeners.map(nameOf);
    return this.#sockets(structure).filter((socket) => !served.includes(nameOf(socket)));
  }

  #sockets({ zone, node }: Structure): Socket[] {
    if (node?.enabled === false) return [];
    const { listen, capabilities } = this.#host;
    const { relayPort } = node ?? {};
    if (relayPort !== undefined)
      return listen.map((address) => ({ protocol: 'tcp' as const, address, port: relayPort }));
    return listen.flatMap((address) => [
      ...zone.ports.map(({ port }) => ({ protocol: 'tcp' as const, address, port })),
      ...http3Ports(zone, capabilities).map((port) => ({ protocol: 'udp' as const, address, port })),
    ]);
  }
}
