// Keeps the node at its zone's revision. One loop does everything in turn: what is pushed while a batch is applied waits
// and is applied together as the next, so a thousand changes take a few rounds and not a thousand.
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

/** What follows: a node with nginx, or one that only pretends. */
export interface Target {
  readonly revision: number;
  /** As it would be if nothing had been refused. */
  readonly digest: string;
  /** The same without the node's own document; null where that is not known. */
  readonly zoneDigest: string | null;
  keys: () => Iterable<string>;
  /** Its revision stays behind what was to be reached where something has to wait: then it is asked for again. */
  apply: (entries: readonly DocEntry[], reached: number) => Promise<Ack>;
  /** Called when the node is known to have exactly what its zone has: the control plane confirmed the digest, or sent
   *  every document (`full`). */
  inSync?: (full: boolean) => void;
}

export interface Line {
  sync: (request: SyncRequest) => Promise<SyncReply>;
  ack: (ack: Ack) => void;
  /** Compares with the control plane soon. */
  compareSoon?: () => void;
}

const FIRST_PAUSE_MS = 200;
/** After something that has to wait. */
const LATER_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** A full sync that did not make the digests agree is not repeated before this. */
const FULL_AGAIN_MS = 60_000;
const LONGEST_FULL_AGAIN_MS = 3_600_000;
const GONE = sha256('');

export class Follower {
  readonly #target: Target;
  readonly #line: Line;
  readonly #log: Log;
  #pushes: DocPush[] = [];
  /** The control plane may have more than is here. */
  #isBehind = false;
  /** From which revision on something is lost that was here; null: nothing is. */
  #missingFrom: number | null = null;
  #connected = false;
  #syncing = false;
  #stopped = false;
  /** Not before this. */
  #askAt = 0;
  /** What went wrong last, until it goes right. */
  error: string | null = null;
  #wake: () => void = () => undefined;
  #waiters: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  #differed: number | null = null;
  /** Everything is not asked for before this. */
  #fullAt = 0;
  #fullAgainMs = FULL_AGAIN_MS;
  #pauseMs = 0;
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

  /** A connection that is new may have missed anything. */
  connected(): void {
    this.#connected = true;
    this.#askAt = 0;
    this.#pauseMs = 0;
    this.catchUp();
  }

  disconnected(): void {
    this.#connected = false;
  }

  /** Asks for what is newer than what is here by then: what is pushed meanwhile does not come twice. */
  catchUp(): void {
    this.#isBehind = true;
    this.#wake();
  }

  /** What changed after this revision is to be sent again. */
  ask(revision: number): void {
    this.#missingFrom = Math.min(this.#missingFrom ?? revision, revision);
    this.#wake();
  }

  /** Asks for everything and resolves when it has been applied. */
  resync(): Promise<void> {
    this.ask(0);
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  /** Compares what the control plane answered a heartbeat with what was sent in it. */
  compare(sent: { revision: number; digest: string }, reply: HeartbeatReply): void {
    if (reply.revision === sent.revision && reply.digest === sent.digest) {
      this.#differed = null;
      this.#fullAt = 0;
      this.#fullAgainMs = FULL_AGAIN_MS;
      this.#target.inSync?.(false);
      return;
    }
    // Changes on their way explain another revision, never another digest of the same one. What differs twice at the
    // same place is not on its way.
    const again = this.#differed === sent.revision;
    this.#differed = sent.revision;
    const lost = again && (reply.revision === sent.revision || this.#target.revision === sent.revision);
    // A zone's revision goes back only when its database was restored.
    if (lost || reply.revision < sent.revision) this.#askForAll(sent.revision);
    else this.catchUp();
  }

  #askForAll(revision: number): void {
    if (performance.now() < this.#fullAt) return;
    this.#fullAt = performance.now() + this.#fullAgainMs;
    this.#fullAgainMs = Math.min(this.#fullAgainMs * 2, LONGEST_FULL_AGAIN_MS);
    this.#log.warn('documents differ from the control plane: asking for all', { revision });
    this.ask(0);
  }

  get differs(): boolean {
    return this.#differed !== null;
  }

  /** While documents are being asked for, a comparison would only find that they are missing. */
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
        this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
        // Apart, so that nodes that lost the same control plane do not come back in step.
        this.#askAt = performance.now() + this.#pauseMs * (0.5 + Math.random());
        this.catchUp();
        this.#log.warn('could not bring the documents up to date', { error, againInMs: this.#pauseMs });
      }
    }
    for (const { reject } of this.#waiters.splice(0)) reject(new Error('the agent is stopping'));
  }

  /** Until there is some. */
  async #work(): Promise<void> {
    while (!this.#stopped && this.#pushes.length === 0 && !this.#mayAsk) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        const isWaiting = this.#connected && this.#lacks;
        if (isWaiting) timer = setTimeout(resolve, this.#askAt - performance.now() + 1);
      });
      clearTimeout(timer);
    }
  }

  get #mayAsk(): boolean {
    return this.#connected && this.#lacks && performance.now() >= this.#askAt;
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
    if (digest !== zoneDigest) this.#askForAll(reached);
    else {
      this.#fullAt = 0;
      this.#fullAgainMs = FULL_AGAIN_MS;
    }
  }

  async #sync(): Promise<void> {
    const missingFrom = this.#missingFrom;
    // Taken first: who asks for more meanwhile, asks for another one.
    this.#missingFrom = null;
    this.#isBehind = false;
    this.#syncing = true;
    const waiters = this.#waiters.splice(0);
    try {
      await this.#pages(missingFrom ?? this.#target.revision);
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
      // The next page travels while this one is applied.
      const next = page.more ? this.#page({ revision: page.revision, full }) : null;
      next?.catch(() => undefined);
      for (const { key, body } of page.docs) if (body !== null) sent.add(key);
      const removals = full && next === null ? this.#absent(sent, page.revision) : [];
      // Until the last page of a full sync it is not known what has to go, so nothing is reached before it. And asking
      // again for what is here already must not take the revision back.
      const reached = full ? (next === null ? page.revision : before) : Math.max(page.revision, this.#target.revision);
      // Where something has to wait, what follows must not go past it.
      isHeld = !(await this.#apply([...page.docs, ...removals], isHeld ? before : reached)) || isHeld;
      if (next === null) break;
      page = await next;
      // The zone forgot meanwhile what is gone: from the beginning, then.
      if (page.full && !full) {
        this.ask(0);
        return;
      }
    }
    if (full && !isHeld) this.#target.inSync?.(true);
  }

  /** Answers whether it was reached. */
  async #apply(entries: readonly DocEntry[], reached: number): Promise<boolean> {
    this.#line.ack(await this.#target.apply(entries, reached));
    if (this.#target.revision >= reached) return true;
    this.#askAt = performance.now() + LATER_MS;
    this.catchUp();
    return false;
  }

  async #page(request: SyncRequest): Promise<SyncReply> {
    const page = await this.#line.sync(request);
    if (page.schema > DOCUMENT_SCHEMA) throw new Error(`documents of schema ${page.schema}: this agent is too old`);
    if (page.more && page.revision <= request.revision && !(page.full && !request.full))
      throw new Error('the control plane sent a page that leads nowhere');
    return page;
  }

  #absent(sent: ReadonlySet<string>, revision: number): DocEntry[] {
    return [...this.#target.keys()]
      .filter((key) => !sent.has(key))
      .map((key) => ({ key, revision, sha256: GONE, body: null }));
  }
}
