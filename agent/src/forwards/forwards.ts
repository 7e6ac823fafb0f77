// Layer 4: the ports that sites forward, served by a second nginx.
// Documents, name resolution and free ports are evaluated together, and a change of any of them starts over.
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { checkDoc, nodeKey, servesLayer, zoneFor } from '@edgeloom/contract/edge/documents.ts';
import type { EdgeDoc, PortDoc, TrialDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import * as z from 'zod';
import { concurrentMap } from '../concurrent-map.ts';
import type { NginxLayout } from '../layout.ts';
import { reason } from '../log.ts';
import type { Log } from '../log.ts';
import { findWorkers } from '../nginx/processes.ts';
import { assertFree, nameOf, socketOf } from '../nginx/sockets.ts';
import type { Socket } from '../nginx/sockets.ts';
import { TreeServer } from '../nginx/tree-server.ts';
import type { LookUp } from '../origins/addresses.ts';
import { closedBecause } from '../plan.ts';
import type { Self } from '../plan.ts';
import type { HostFacts } from '../render/input.ts';
import type { Forward } from '../render/stream-conf.ts';
import type { DocumentStore } from '../store/documents.ts';
import { choose, namesIn } from './choose.ts';
import { Names } from './names.ts';
import { forwardsTree, readNote, socketsOf } from './tree.ts';

export interface Pace {
  /** Delay between two reloads. */
  minReloadMs: number;
  /** Further delay for each draining worker of more than one generation. */
  workerMs: number;
  maxReloadMs: number;
  /** Interval for resolving names again and retrying forwards that could not be served. */
  retryMs: number;
}

/** Limits how fast draining workers can accumulate when forwards or names change in a loop. */
export const defaultPace: Pace = { minReloadMs: 1000, workerMs: 5000, maxReloadMs: 300_000, retryMs: 30_000 };

interface Deps {
  binary: string;
  layout: NginxLayout;
  host: HostFacts;
  lookUp: LookUp;
  pace?: Pace;
  log: Log;
}

interface DocumentSource {
  store: Pick<DocumentStore, 'keys' | 'read'>;
  self: () => Self;
}

/** At most this many errors are shown. */
const MAX_SHOWN_ERRORS = 5;
const MAX_CONCURRENT = 32;
const STATUS_TIMEOUT_MS = 1000;
/** During a pause the draining workers are counted again this often. */
const LOOK_MS = 5000;

export class Forwards {
  readonly #deps: Deps;
  readonly #pace: Pace;
  readonly #server: TreeServer;
  readonly #names: Names;
  readonly #stopping = new AbortController();
  #documents: DocumentSource | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isUpdateRequested = false;
  #isResolving = false;
  #update: Promise<void> | null = null;
  #reloadedAt = Number.NEGATIVE_INFINITY;
  #isRestored = false;
  /** The forwards were evaluated once since the start. */
  hasEvaluated = false;
  /** Which forwards are not served, and why. */
  error: string | null = null;
  /** The sockets that accept visitors. */
  sockets: readonly Pick<Socket, 'protocol' | 'port'>[] = [];
  onSockets: () => void = () => undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#pace = deps.pace ?? defaultPace;
    const { binary, layout, log } = deps;
    this.#server = new TreeServer({ binary, layout, log, readGeneration: () => readGeneration(layout) });
    this.#names = new Names(deps.lookUp, () => this.#requestUpdate());
  }

  async serveLast(): Promise<void> {
    await this.#server.serveLast();
    this.sockets = (await readNote(this.#server.trees)).sockets.map(socketOf);
  }

  /** Follows these documents from now on. */
  follow(source: DocumentSource): void {
    this.#documents = source;
    this.#timer = setInterval(() => void this.#checkAgain(), this.#pace.retryMs).unref();
    this.#requestUpdate();
  }

  changed(keys: readonly string[] | 'all'): void {
    if (keys === 'all' || keys.some((key) => /^(?:zone$|trial$|node\/|port\/)/.test(key))) this.#requestUpdate();
  }

  reopenLogs(): Promise<void> {
    return this.#server.nginx.reopenLogs();
  }

  async stop({ nginx }: { nginx: boolean }): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    await this.#update;
    if (nginx) await this.#server.nginx.stop();
    this.#server.nginx.unwatch();
  }

  async #checkAgain(): Promise<void> {
    if (this.error !== null) this.#requestUpdate();
    if (this.#isResolving) return;
    this.#isResolving = true;
    await this.#names.resolveAgain();
    this.#isResolving = false;
  }

  #requestUpdate(): void {
    this.#isUpdateRequested = true;
    if (this.#documents !== null && this.#update === null && !this.#stopping.signal.aborted)
      this.#update = this.#runUpdates(this.#documents);
  }

  async #runUpdates(source: DocumentSource): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#isUpdateRequested) {
      await this.#waitForReload();
      if (signal.aborted) return;
      this.#isUpdateRequested = false;
      const faults = await this.#serve(source).catch((error: unknown) => [reason(error)]);
      const before = this.error;
      this.error = summarize(faults);
      this.hasEvaluated = true;
      if (this.error !== null && this.error !== before)
        this.#deps.log.error('not all forwards are served', { error: this.error });
    }
    // Cleared in the same step as the check for more work.
    this.#update = null;
  }

  /** Waits until nginx may be reloaded again. */
  async #waitForReload(): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      const elapsed = performance.now() - this.#reloadedAt;
      if (elapsed > this.#pace.maxReloadMs) return;
      const { draining, serving } = await findWorkers(this.#deps.layout.dir);
      const left = reloadPauseMs({ draining: draining.length, serving: serving.length }, this.#pace);
      if (elapsed >= left) return;
      await sleep(Math.min(left - elapsed, LOOK_MS), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
  }

  /** Returns what could not be served. */
  async #serve(source: DocumentSource): Promise<string[]> {
    const { zone, ports, faults } = await readDocuments(source);
    if (zone === null || ports.length === 0) {
      await this.#end();
      this.#publishSockets([]);
      return faults;
    }
    const { host, layout } = this.#deps;
    if (!host.capabilities.stream) return ['this nginx has no stream module'];
    const served = await this.#served();
    await this.#names.follow(namesIn(ports));
    const addressesOf = (name: string) => this.#names.of(name);
    const { forwards: wanted, leftOut } = choose(ports, { zone, addressesOf, capabilities: host.capabilities });
    const heldPorts = await this.#heldByOthers(wanted, served);
    const forwards = wanted.filter(({ port }) => !heldPorts.has(port));
    let isNew = true;
    try {
      isNew = await this.#server.serve((generation) =>
        Promise.resolve(forwardsTree({ forwards, zone, addressesOf, generation, host, dir: layout.dir })),
      );
    } finally {
      if (isNew) this.#reloadedAt = performance.now();
    }
    this.#publishSockets(forwards);
    return [...faults, ...leftOut, ...heldPorts.values()];
  }

  #publishSockets(forwards: readonly Forward[]): void {
    this.sockets = forwards.map(({ port: { protocol, port } }) => ({ protocol, port }));
    this.onSockets();
  }

  async #end(): Promise<void> {
    if ((await this.#server.trees.marked('current')) === null) return;
    await this.#server.end();
    this.#reloadedAt = performance.now();
  }

  /** The sockets our own nginx listens on. Also restores the addresses it was rendered with. */
  async #served(): Promise<ReadonlySet<string>> {
    const { nginx, trees } = this.#server;
    const note = await readNote(trees);
    if (!this.#isRestored) this.#names.remember(note.names);
    this.#isRestored = true;
    if ((await nginx.find()) !== null) return new Set(note.sockets);
    await nginx.clear();
    return new Set();
  }

  async #heldByOthers(forwards: Forward[], served: ReadonlySet<string>): Promise<Map<PortDoc, string>> {
    const heldPorts = new Map<PortDoc, string>();
    await concurrentMap(forwards, MAX_CONCURRENT, async ({ port }) => {
      const missing = socketsOf(port, this.#deps.host).filter((socket) => !served.has(nameOf(socket)));
      await Promise.all(missing.map(assertFree)).catch((error: unknown) => heldPorts.set(port, reason(error)));
    });
    return heldPorts;
  }
}

interface WorkerCounts {
  draining: number;
  serving: number;
}

/** One draining generation costs nothing noticeable, so a change right after another one takes effect at once. */
export const reloadPauseMs = ({ draining, serving }: WorkerCounts, { minReloadMs, workerMs, maxReloadMs }: Pace) =>
  Math.min(minReloadMs + workerMs * Math.max(0, draining - serving), maxReloadMs);

interface Documents {
  /** Null: there is no zone, or this node is switched off. */
  zone: ZoneDoc | null;
  ports: PortDoc[];
  faults: string[];
}

async function readDocuments({ store, self }: DocumentSource): Promise<Documents> {
  const read: Documents = { zone: null, ports: [], faults: [] };
  const docs: EdgeDoc[] = [];
  const own = nodeKey(self().nodeID);
  const keys = [...store.keys()].filter(
    (key) => key === 'zone' || key === 'trial' || key === own || key.startsWith('port/'),
  );
  await concurrentMap(keys, MAX_CONCURRENT, async (key) => {
    try {
      const body = await store.read(key);
      const checked = body === null ? null : checkDoc(key, body);
      if (checked !== null && 'doc' in checked) docs.push(checked.doc);
      if (checked !== null && 'closed' in checked) read.faults.push(`${key}: ${closedBecause(checked.closed)}`);
    } catch (error) {
      // A damaged document is requested again, and evaluated when it arrives.
      read.faults.push(`${key}: ${reason(error)}`);
    }
  });
  let isEnabled = true;
  let trial: TrialDoc | null = null;
  for (const doc of docs) {
    if (doc.kind === 'zone') read.zone = doc;
    if (doc.kind === 'trial') trial = doc;
    if (doc.kind === 'node') isEnabled = servesLayer(doc, '4', new Date());
    if (doc.kind === 'port') read.ports.push(doc);
  }
  const zone = read.zone && zoneFor(self().nodeID, read.zone, trial);
  return { ...read, zone: isEnabled ? zone : null };
}

function summarize(faults: readonly string[]): string | null {
  if (faults.length === 0) return null;
  const more = faults.length > MAX_SHOWN_ERRORS ? `; and ${faults.length - MAX_SHOWN_ERRORS} more` : '';
  return `layer 4: ${faults.slice(0, MAX_SHOWN_ERRORS).join('; ')}${more}`;
}

/** nginx sends the number of its tree on this socket. */
function readGeneration({ run }: NginxLayout): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(path.join(run, 'status.sock'));
    let text = '';
    socket.setTimeout(STATUS_TIMEOUT_MS, () => socket.destroy(new Error('no response')));
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.once('error', reject);
    socket.once('close', () => resolve(z.coerce.number().parse(text)));
  });
}
