// Keeps the node at its zone's keys. A node that was away, or that a change of keys came too late for, asks by itself.
import { isDeepStrictEqual } from 'node:util';
import type { DocEntry, Heartbeat, HeartbeatReply } from '@edgeloom/contract/edge/messages.ts';
import { keysNamedIn } from '@edgeloom/contract/edge/sealed.ts';
import type { ZoneKeys } from '@edgeloom/contract/edge/sealed.ts';
import type { Log } from '../log.ts';

/** The keys of its zone that it holds, the current one first. */
export interface HeldKeys {
  ids: () => Promise<string[]>;
  /** Back once nginx has them as well. What was held and is not told of stays, behind the others. */
  take: (told: ZoneKeys) => Promise<void>;
  /** Forgets all others. */
  keepOnly: (ids: readonly string[]) => Promise<void>;
}

interface Parts {
  held: HeldKeys;
  ask: () => Promise<ZoneKeys>;
  /** What a heartbeat says of them may be another now. */
  changed: () => void;
  stopping: AbortSignal;
  log: Log;
}

export class KeyFollower {
  readonly #parts: Parts;
  #turn: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A key that a document names comes before the document. */
  async prepare(entries: readonly DocEntry[]): Promise<void> {
    const named = [...new Set(entries.flatMap(({ body }) => (body === null ? [] : keysNamedIn(body))))];
    if (await this.#holds(named)) return;
    await this.take();
    // Nobody has it any more: what it seals does not open, and all else shall not wait for that.
    if (!(await this.#holds(named)))
      this.#parts.log.error('documents are sealed by a key that the control plane does not give', { keys: named });
  }

  /** One after the other: an answer from before does not take the place of a later one. */
  async take(): Promise<void> {
    const { held, ask, changed } = this.#parts;
    await this.#inTurn(async () => held.take(await ask()));
    changed();
  }

  /** What the node is to hold, by the answer to a heartbeat. A key is forgotten only where the documents are those that the
   *  control plane has, to the last one: then nothing here is sealed by it. */
  async compare(sent: Pick<Heartbeat, 'revision' | 'digest'>, { keys: told, revision, digest }: HeartbeatReply) {
    if (told === undefined) return;
    const held = await this.#parts.held.ids();
    if (told.some((id, i) => held[i] !== id)) await this.take();
    else if (held.length > told.length && revision === sent.revision && digest === sent.digest) {
      await this.#inTurn(() => this.#forgetAllBut(told, held));
      this.#parts.changed();
    }
  }

  /** nginx reads them in the course of it: it is not left in the middle. */
  settled(): Promise<void> {
    return this.#turn;
  }

  async #holds(named: readonly string[]): Promise<boolean> {
    if (named.length === 0) return true;
    const held = await this.#parts.held.ids();
    return named.every((id) => held.includes(id));
  }

  /** What was taken since that answer nobody has said anything of. */
  async #forgetAllBut(told: readonly string[], held: readonly string[]): Promise<void> {
    if (isDeepStrictEqual(await this.#parts.held.ids(), held)) await this.#parts.held.keepOnly(told);
  }

  #inTurn(task: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(() => {
      if (this.#parts.stopping.aborted) throw new Error('the agent is stopping');
      return task();
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}
