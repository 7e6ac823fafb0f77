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
import { findNginx } from '../nginx/processes.ts';
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
  /** Delay between two reloads, multiplied by the workers that are still draining. */
  reloadMs: number;
  longestMs: number;
  /** Interval for resolving names again and retrying forwards that could not be served. */
  lookMs: number;
}

/** Limits how fast draining workers can accumulate when forwards or names change in a loop. */
export const usualPace: Pace = { reloadMs: 5000, longestMs: 300_000, lookMs: 30_000 };

interface Deps {
  binary: string;
  layout: NginxLayout;
  host: HostFacts;
  lookUp: LookUp;
  pace?: Pace;
  log: Log;
}

interface Source {
  store: Pick<DocumentStore, 'keys' | 'read'>;
  self: () => Self;
}

/** At most this many errors are shown. */
const SHOWN = 5;
const READ_AT_ONCE = 32;
const ANSWERS_WITHIN_MS = 1000;

export class Forwards {
  readonly #parts: Deps;
  readonly #pace: Pace;
  readonly #server: TreeServer;
  readonly #names: Names;
  readonly #stopping = new AbortController();
  #source: Source | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isWanted = false;
  #isLooking = false;
  #working: Promise<void> | null = null;
  #reloadedAt = Number.NEGATIVE_INFINITY;
  #remembered = false;
  /** The first evaluation after the start is complete. */
  hasLooked = false;
  /** Which forwards are not served, and why. */
  error: string | null = null;
  /** The sockets that accept visitors. */
  sockets: readonly Pick<Socket, 'protocol' | 'port'>[] = [];
  onSockets: () => void = () => undefined;

  constructor(parts: Deps) {
    this.#parts = parts;
    this.#pace = parts.pace ?? usualPace;
    const { binary, layout, log } = parts;
    this.#server = new TreeServer({ binary, layout, log, answering: () => answering(layout) });
    this.#names = new Names(parts.lookUp, () => this.#want());
  }

  async serveLast(): Promise<void> {
    await this.#server.serveLast();
    this.sockets = (await readNote(this.#server.trees)).sockets.map(socketOf);
  }

  /** Follows these documents from now on. */
  follow(source: Source): void {
    this.#source = source;
    this.#timer = setInterval(() => void this.#look(), this.#pace.lookMs).unref();
    this.#want();
  }

  changed(keys: readonly string[] | 'all'): void {
    if (keys === 'all' || keys.some((key) => /^(?:zone$|trial$|node\/|port\/)/.test(key))) this.#want();
  }

  reopenLogs(): Promise<void> {
    return this.#server.nginx.reopenLogs();
  }

  async stop({ nginx }: { nginx: boolean }): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    await this.#working;
    if (nginx) await this.#server.nginx.stop();
    this.#server.nginx.unwatch();
  }

  async #look(): Promise<void> {
    if (this.error !== null) this.#want();
    if (this.#isLooking) return;
    this.#isLooking = true;
    await this.#names.lookAgain();
    this.#isLooking = false;
  }

  #want(): void {
    this.#isWanted = true;
    if (this.#source !== null && this.#working === null && !this.#stopping.signal.aborted)
      this.#working = this.#work(this.#source);
  }

  async #work(source: Source): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#isWanted) {
      await this.#rest();
      if (signal.aborted) return;
      this.#isWanted = false;
      const faults = await this.#serve(source).catch((error: unknown) => [reason(error)]);
      const before = this.error;
      this.error = inWords(faults);
      this.hasLooked = true;
      if (this.error !== null && this.error !== before)
        this.#parts.log.error('not all forwards are served', { error: this.error });
    }
    // Cleared in the same step as the check for more work.
    this.#working = null;
  }

  /** Waits until nginx may be reloaded again. */
  async #rest(): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      const elapsed = performance.now() - this.#reloadedAt;
      if (elapsed > this.#pace.longestMs) return;
      const processes = await findNginx(this.#parts.layout.dir);
      const left = pauseAfter(processes.filter(({ title }) => title.includes('shutting down')).length, this.#pace);
      if (elapsed >= left) return;
      await sleep(Math.min(left - elapsed, this.#pace.reloadMs), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
  }

  /** Returns what could not be served. */
  async #serve(source: Source): Promise<string[]> {
    const { zone, ports, faults } = await readAll(source);
    if (zone === null || ports.length === 0) {
      await this.#end();
      this.#letIn([]);
      return faults;
    }
    const { host, layout } = this.#parts;
    if (!host.capabilities.stream) return ['this nginx has no stream module'];
    const served = await this.#served();
    await this.#names.follow(namesIn(ports));
    const addressesOf = (name: string) => this.#names.of(name);
    const { forwards: wanted, leftOut } = choose(ports, { zone, addressesOf, capabilities: host.capabilities });
    const held = await this.#heldByOthers(wanted, served);
    const forwards = wanted.filter(({ port }) => !held.has(port));
    let isNew = true;
    try {
      isNew = await this.#server.serve((generation) =>
        Promise.resolve(forwardsTree({ forwards, zone, addressesOf, generation, host, dir: layout.dir })),
      );
    } finally {
      if (isNew) this.#reloadedAt = performance.now();
    }
    this.#letIn(forwards);
    return [...faults, ...leftOut, ...held.values()];
  }

  #letIn(forwards: readonly Forward[]): void {
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
    if (!this.#remembered) this.#names.remember(note.names);
    this.#remembered = true;
    if ((await nginx.find()) !== null) return new Set(note.sockets);
    await nginx.clear();
    return new Set();
  }

  async #heldByOthers(forwards: Forward[], served: ReadonlySet<string>): Promise<Map<PortDoc, string>> {
    const held = new Map<PortDoc, string>();
    await concurrentMap(forwards, READ_AT_ONCE, async ({ port }) => {
      const missing = socketsOf(port, this.#parts.host).filter((socket) => !served.has(nameOf(socket)));
      await Promise.all(missing.map(assertFree)).catch((error: unknown) => held.set(port, reason(error)));
    });
    return held;
  }
}

/** The pause grows with each draining worker. */
export const pauseAfter = (leaving: number, { reloadMs, longestMs }: Pace) =>
  Math.min(reloadMs * (1 + leaving), longestMs);

interface Read {
  /** Null: there is no zone, or this node is switched off. */
  zone: ZoneDoc | null;
  ports: PortDoc[];
  faults: string[];
}

async function readAll({ store, self }: Source): Promise<Read> {
  const read: Read = { zone: null, ports: [], faults: [] };
  const docs: EdgeDoc[] = [];
  const own = nodeKey(self().nodeID);
  const keys = [...store.keys()].filter(
    (key) => key === 'zone' || key === 'trial' || key === own || key.startsWith('port/'),
  );
  await concurrentMap(keys, READ_AT_ONCE, async (key) => {
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

function inWords(faults: readonly string[]): string | null {
  if (faults.length === 0) return null;
  const more = faults.length > SHOWN ? `; and ${faults.length - SHOWN} more` : '';
  return `layer 4: ${faults.slice(0, SHOWN).join('; ')}${more}`;
}

/** nginx sends the number of its tree on this socket. */
function answering({ run }: NginxLayout): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(path.join(run, 'status.sock'));
    let text = '';
    socket.setTimeout(ANSWERS_WITHIN_MS, () => socket.destroy(new Error('it does not answer')));
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.once('error', reject);
    socket.once('close', () => resolve(z.coerce.number().parse(text)));
  });
}
