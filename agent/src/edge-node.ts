// This node: its documents, its nginx trees and its nginx, and the steps by which one becomes the other.
import { createServer } from 'node:net';
import { nodeKey, parseDoc } from '@edgeloom/contract/edge/documents.ts';
import type { Layout } from './layout.ts';
import { reason } from './log.ts';
import type { Log } from './log.ts';
import { Admin } from './nginx/admin.ts';
import { nodeTree } from './nginx/node-tree.ts';
import type { Structure } from './nginx/node-tree.ts';
import { markErrorLog, probe } from './nginx/probe.ts';
import type { Nginx } from './nginx/supervisor.ts';
import { isSameTree } from './nginx/trees.ts';
import type { Trees } from './nginx/trees.ts';
import type { Self } from './plan.ts';
import type { HostFacts } from './render/render.ts';
import type { Change, DocumentStore } from './store/documents.ts';

/** Between two of them a reload or a restart is over. */
const BUMP_TRIES = 3;

export class EdgeNode {
  /** Empty before it has joined. */
  self: Self = { nodeID: '', zoneID: '' };
  readonly store: DocumentStore;
  readonly nginx: Nginx;
  readonly admin: Admin;
  readonly trees: Trees;
  readonly #layout: Layout;
  readonly #host: HostFacts;
  readonly #log: Log;
  #serving: Structure | null = null;
  #untold = false;
  #queue: Promise<unknown> = Promise.resolve();
  /** The last attempt to change the structure was taken back. */
  rolledBack = false;
  /** Told of every document that changed, after it lies on disk. */
  onChanged: (keys: readonly string[] | 'all') => void = () => undefined;
  /** Why nginx is not what the documents say. */
  error: string | null = null;

  constructor(parts: { trees: Trees; store: DocumentStore; nginx: Nginx; layout: Layout; host: HostFacts; log: Log }) {
    this.store = parts.store;
    this.nginx = parts.nginx;
    this.#layout = parts.layout;
    this.#host = parts.host;
    this.#log = parts.log;
    this.admin = new Admin(parts.layout.adminSocket);
    this.trees = parts.trees;
  }

  /** Serves what the documents on disk say; without a zone among them, what served last. */
  async serve(): Promise<void> {
    await this.trees.prune();
    const structure = await this.#structureOnDisk();
    if (this.nginx.running) this.#serving = structure;
    await this.#serve(structure).catch((error: unknown) => {
      this.#log.error('nginx does not serve what is on disk', { error });
    });
  }

  /** What the structure would be with these changes; null before there is a zone. */
  async structureWith(changes: readonly Change[]): Promise<Structure | null> {
    const body = async (key: string) => {
      const change = changes.find((one) => one.key === key);
      return change === undefined ? this.store.read(key).catch(() => null) : change.body;
    };
    const [zoneBody, nodeBody] = await Promise.all([body('zone'), body(nodeKey(this.self.nodeID))]);
    if (zoneBody === null) return null;
    const zone = parseDoc('zone', zoneBody);
    const node = nodeBody === null ? null : parseDoc(nodeKey(this.self.nodeID), nodeBody);
    if (zone.kind !== 'zone' || (node !== null && node.kind !== 'node')) throw new Error('documents of another kind');
    return { zone, node };
  }

  /**
   * Makes nginx serve this structure: stage, test, swap, reload, probe. When any of it fails the last good tree serves
   * as before and the reason is thrown. A structure that renders to what is served is only looked at.
   */
  async restructure(structure: Structure): Promise<void> {
    try {
      const good = await this.trees.marked('good');
      if (good !== null && isSameTree(await nodeTree(structure, good, this.#host), await this.trees.read(good))) {
        await this.#ensureServing(good);
        this.#settle(structure);
        return;
      }
      const generation = await this.trees.next();
      await this.#assertPortsFree(structure);
      await this.trees.stage(generation, await nodeTree(structure, generation, this.#host));
      try {
        await this.nginx.test(this.trees.confFile(generation));
        await this.trees.mark('current', generation);
        await this.#ensureServing(generation);
      } catch (error) {
        await this.#rollBack(good);
        await this.trees.discard(generation);
        throw error;
      }
      await this.trees.mark('good', generation);
      this.nginx.keep();
      await this.trees.prune();
      this.#settle(structure);
      this.#log.info('nginx serves a new tree', { generation });
    } catch (error) {
      this.error = reason(error);
      this.rolledBack = true;
      throw error;
    }
  }

  /**
   * Once it is back, nobody is answered from an older document. An nginx that does not run has nothing to forget; one that
   * could not be told owes us that, and is told with the next documents.
   */
  async bump(keys: readonly string[] | 'all'): Promise<void> {
    const wanted = this.#untold ? 'all' : keys;
    if (wanted.length === 0) return;
    this.onChanged(keys);
    this.#untold = true;
    for (let tries = 1; this.nginx.running; tries += 1) {
      try {
        await this.admin.bump(wanted);
        break;
      } catch (error) {
        if (tries >= BUMP_TRIES && (await this.nginx.find()) !== null) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    this.#untold = false;
  }

  /** For when something other than documents has changed: nginx was started anew, or the zone's key is another. */
  async refresh(): Promise<void> {
    await this.#serve(await this.#structureOnDisk());
  }

  /** Whatever changes documents or nginx does so alone. */
  inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(task);
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async #serve(structure: Structure | null): Promise<void> {
    const good = await this.trees.marked('good');
    if (structure !== null) await this.restructure(structure);
    else if (good !== null) await this.#ensureServing(good);
    // What was written just before a kill may not have been announced.
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

  #settle(structure: Structure): void {
    this.#serving = structure;
    this.rolledBack = false;
    this.error = null;
  }

  async #ensureServing(generation: number): Promise<void> {
    const errorLog = await markErrorLog(this.#layout.errorLog);
    const runs = (await this.nginx.find()) !== null;
    await this.nginx.start();
    if (runs) {
      // One that was found again may have been told of this tree already.
      const status = await this.admin.status(1000).catch(() => null);
      if (status?.generation !== generation) this.nginx.reload();
    }
    await probe(this.admin, generation, errorLog);
  }

  async #rollBack(good: number | null): Promise<void> {
    if (good === null) {
      await this.nginx.stop();
      await this.trees.unmark('current');
      return;
    }
    await this.trees.mark('current', good);
    await this.#ensureServing(good).catch((error: unknown) => {
      this.#log.error('the way back failed', { generation: good, error });
    });
  }

  /** nginx would try for seconds before it refuses; asked beforehand, the answer costs nothing and names the port. */
  async #assertPortsFree(structure: Structure): Promise<void> {
    // Without nginx it could be the workers of a dead one that hold them, which its start will end.
    if (!this.nginx.running || this.#serving === null) return;
    const held = new Set(this.#sockets(this.#serving));
    for (const socket of this.#sockets(structure)) if (!held.has(socket)) await assertFree(socket);
  }

  #sockets({ zone, node }: Structure): string[] {
    if (node?.enabled === false) return [];
    return zone.ports.flatMap(({ port }) => this.#host.listen.map((address) => `${address}:${port}`));
  }
}

function assertFree(socket: string): Promise<void> {
  const colon = socket.lastIndexOf(':');
  const host = socket.slice(0, colon).replaceAll(/[[\]]/g, '');
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(`${socket} cannot be opened: ${error.code ?? error.message}`)),
    );
    server.listen({ host, port: Number(socket.slice(colon + 1)), ipv6Only: host.includes(':'), exclusive: true }, () =>
      server.close(() => resolve()),
    );
  });
}
