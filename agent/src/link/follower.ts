// Keeps the node at its zone's revision. One loop does everything in sequence: pushes that arrive during a batch are
// applied together as the next one, so a thousand changes take a few rounds.
import { sha256 } from '@edgeloom/contract/edge/digest.ts';
import { DOCUMENT_SCHEMA } from '@edgeloom/contract/edge/documents.ts';
import type {
  Ack,
  DocEntry,
  DocPush,
  HeartbeatReply,
  SyncReply,
  SyncRequest,
} from '@edgeloom/contract/edge/messages.ts';
import { reason } from '../log.ts';
import type { Log } from '../log.ts';
import { chain } from './feed.ts';

/** A node with nginx, or a simulated one. */
export interface Target {
  readonly revision: number;
  /** The digest with every document accepted, including the rejected ones. */
  readonly digest: string;
  /** The same without the node's own document. Null where unknown. */
  readonly zoneDigest: string | null;
  keys: () => Iterable<string>;
  /** The revision stays below `reached` when part of the change has to wait. It is then requested again. */
  apply: (entries: readonly DocEntry[], reached: number) => Promise<Ack>;
  /**
   * Called when the node provably matches its zone: the control plane confirmed the digest, or sent every document
   * (`full`).
   */
  inSync?: (full: boolean) => void;
}

export interface Line {
  sync: (request: SyncRequest, timeoutMs: number) => Promise<SyncReply>;
  ack: (ack: Ack) => void;
  /** Requests an early comparison with the control plane. */
  compareSoon?: () => void;
}

/** When the API process that received a request dies, no response comes, and until the timeout no push is applied. */
const FIRST_TIMEOUT_MS = 5000;
/** After each timeout the next request gets more time, until a whole sync has succeeded: the link may be slow. */
const MAX_TIMEOUT_MS = 30_000;
const FIRST_PAUSE_MS = 200;
/** Delay before a postponed change is retried. */
const POSTPONED_MS = 500;
const MAX_PAUSE_MS = 15_000;
/** A full sync that did not fix the digest is not repeated before this. */
const FULL_SYNC_INTERVAL_MS = 60_000;
const MAX_FULL_SYNC_INTERVAL_MS = 3_600_000;
const GONE = sha256('');

export class Follower {
  readonly #target: Target;
  readonly #line: Line;
  readonly #log: Log;
  #pushes: DocPush[] = [];
  /** The control plane may have newer documents. */
  #isBehind = false;
  /** First revision whose documents were lost here. Null: none. */
  #missingFrom: number | null = null;
  #connected = false;
  #syncing = false;
  #stopped = false;
  /** No sync starts before this time. */
  #syncAt = 0;
  /** The last error, until the next success. */
  error: string | null = null;
  #wake: () => void = () => undefined;
  #waiters: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  #differedAt: number | null = null;
  /** No full sync starts before this time. */
  #fullSyncAt = 0;
  #fullSyncIntervalMs = FULL_SYNC_INTERVAL_MS;
  #pauseMs = 0;
  #timeoutMs = FIRST_TIMEOUT_MS;
  readonly done: Promise<void>;

  constructor(target: Target, line: Line, log: Log) {
    this.#target = target;
    this.#line = line;
    this.#log = log;
    this.done = this.#follow();
  }

  push(push: DocPush): void {
    this.#pushes.push(push);
    this.#wake();
  }

  /** A new connection may have missed any message. */
  connected(): void {
    this.#connected = true;
    this.#syncAt = 0;
    this.#pauseMs = 0;
    this.#timeoutMs = FIRST_TIMEOUT_MS;
    this.catchUp();
  }

  disconnected(): void {
    this.#connected = false;
  }

  /** Syncs from the local revision. Pushes that arrive in between are not applied twice. */
  catchUp(): void {
    this.#isBehind = true;
    this.#wake();
  }

  /** Requests everything that changed after this revision again. */
  ask(revision: number): void {
    this.#missingFrom = Math.min(this.#missingFrom ?? revision, revision);
    this.#wake();
  }

  /** Runs a full sync and resolves when it has been applied. */
  resync(): Promise<void> {
    this.ask(0);
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  /** Compares a heartbeat's reply with the state that was sent in it. */
  compare(sent: { revision: number; digest: string }, reply: HeartbeatReply): void {
    if (reply.revision === sent.revision && reply.digest === sent.digest) {
      this.#differedAt = null;
      this.#fullSyncAt = 0;
      this.#fullSyncIntervalMs = FULL_SYNC_INTERVAL_MS;
      this.#target.inSync?.(false);
      return;
    }
    // Documents in transit explain a different revision, never a different digest of the same one.
    // A difference seen twice at one revision is real.
    const again = this.#differedAt === sent.revision;
    this.#differedAt = sent.revision;
    const lost = again && (reply.revision === sent.revision || this.#target.revision === sent.revision);
    // A zone's revision decreases only when its database was restored.
    if (lost || reply.revision < sent.revision) this.#requestAll(sent.revision);
    else this.catchUp();
  }

  #requestAll(revision: number): void {
    if (performance.now() < this.#fullSyncAt) return;
    this.#fullSyncAt = performance.now() + this.#fullSyncIntervalMs;
    this.#fullSyncIntervalMs = Math.min(this.#fullSyncIntervalMs * 2, MAX_FULL_SYNC_INTERVAL_MS);
    this.#log.warn('documents differ from the control plane: requesting all of them', { revision });
    this.ask(0);
  }

  get differs(): boolean {
    return this.#differedAt !== null;
  }

  /** During a sync a comparison would only report what the sync will bring. */
  get syncing(): boolean {
    return this.#syncing || this.#lacks;
  }

  get #lacks(): boolean {
    return this.#isBehind || this.#missingFrom !== null;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.done;
  }

  async #follow(): Promise<void> {
    while (!this.#stopped) {
      await this.#work();
      try {
        await this.#takePushes();
        if (this.#mayAsk) await this.#sync();
        this.#pauseMs = 0;
        this.error = null;
      } catch (error) {
        this.error = reason(error);
        this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, FIRST_PAUSE_MS), MAX_PAUSE_MS);
        // Jitter, so that nodes that lost the same control plane do not return in step.
        this.#syncAt = performance.now() + this.#pauseMs * (0.5 + Math.random());
        this.catchUp();
        this.#log.warn('could not update the documents', { error, againInMs: this.#pauseMs });
      }
    }
    for (const { reject } of this.#waiters.splice(0)) reject(new Error('the agent is stopping'));
  }

  /** Waits for work. */
  async #work(): Promise<void> {
    while (!this.#stopped && this.#pushes.length === 0 && !this.#mayAsk) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        const isWaiting = this.#connected && this.#lacks;
        if (isWaiting) timer = setTimeout(resolve, this.#syncAt - performance.now() + 1);
      });
      clearTimeout(timer);
    }
  }

  get #mayAsk(): boolean {
    return this.#connected && this.#lacks && performance.now() >= this.#syncAt;
  }

  async #takePushes(): Promise<void> {
    const pushes = this.#pushes.splice(0);
    if (pushes.length === 0) return;
    const { entries, reached, gap, digest, isOlder } = chain(this.#target.revision, pushes);
    if (reached > this.#target.revision) await this.#apply(entries, reached);
    if (gap) this.catchUp();
    if (isOlder) this.#line.compareSoon?.();
    const { zoneDigest } = this.#target;
    if (digest === undefined || zoneDigest === null || this.#target.revision !== reached || this.#missingFrom !== null)
      return;
    if (digest !== zoneDigest) this.#requestAll(reached);
    else {
      this.#fullSyncAt = 0;
      this.#fullSyncIntervalMs = FULL_SYNC_INTERVAL_MS;
    }
  }

  async #sync(): Promise<void> {
    const missingFrom = this.#missingFrom;
    // Reset first, so that a later request starts another sync.
    this.#missingFrom = null;
    this.#isBehind = false;
    this.#syncing = true;
    const waiters = this.#waiters.splice(0);
    try {
      await this.#pages(missingFrom ?? this.#target.revision);
      this.#timeoutMs = FIRST_TIMEOUT_MS;
      for (const { resolve } of waiters) resolve();
    } catch (error) {
      if (missingFrom !== null) this.ask(missingFrom);
      for (const { reject } of waiters) reject(error);
      throw error;
    } finally {
      this.#syncing = false;
    }
  }

  async #pages(from: number): Promise<void> {
    const before = this.#target.revision;
    let isHeld = false;
    const sent = new Set<string>();
    let page = await this.#page({ revision: from, full: false });
    const { full } = page;
    for (;;) {
      // The next page downloads while this one is applied.
      const next = page.more ? this.#page({ revision: page.revision, full }) : null;
      next?.catch(() => undefined);
      for (const { key, body } of page.docs) if (body !== null) sent.add(key);
      const removals = full && next === null ? this.#absent(sent, page.revision) : [];
      // A full sync knows what to remove only after its last page, so it reaches no revision before.
      // Requesting older changes must not lower the revision.
      const reached = full ? (next === null ? page.revision : before) : Math.max(page.revision, this.#target.revision);
      // Documents after a postponed one must not advance the revision past it.
      isHeld = !(await this.#apply([...page.docs, ...removals], isHeld ? before : reached)) || isHeld;
      if (next === null) break;
      page = await next;
      // The zone discarded its removals since, so the sync starts over as a full one.
      if (page.full && !full) {
        this.ask(0);
        return;
      }
    }
    if (full && !isHeld) this.#target.inSync?.(true);
  }

  /** Returns whether the revision was reached. */
  async #apply(entries: readonly DocEntry[], reached: number): Promise<boolean> {
    this.#line.ack(await this.#target.apply(entries, reached));
    if (this.#target.revision >= reached) return true;
    this.#syncAt = performance.now() + POSTPONED_MS;
    this.catchUp();
    return false;
  }

  async #page(request: SyncRequest): Promise<SyncReply> {
    const page = await this.#request(request);
    if (page.schema > DOCUMENT_SCHEMA) throw new Error(`documents of schema ${page.schema}: this agent is too old`);
    if (page.more && page.revision <= request.revision && !(page.full && !request.full))
      throw new Error('the control plane sent a page without progress');
    return page;
  }

  async #request(request: SyncRequest): Promise<SyncReply> {
    const timeoutMs = this.#timeoutMs;
    const startedAt = performance.now();
    try {
      return await this.#line.sync(request, timeoutMs);
    } catch (error) {
      if (performance.now() - startedAt >= timeoutMs) this.#timeoutMs = Math.min(timeoutMs * 2, MAX_TIMEOUT_MS);
      throw error;
    }
  }

  #absent(sent: ReadonlySet<string>, revision: number): DocEntry[] {
    return [...this.#target.keys()]
      .filter((key) => !sent.has(key))
      .map((key) => ({ key, revision, sha256: GONE, body: null }));
  }
}
