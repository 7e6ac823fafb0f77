// Keeps the node at its zone's keys. A node that missed a change of keys requests them itself.
import { isDeepStrictEqual } from 'node:util';
import type { DocEntry, Heartbeat, HeartbeatReply } from '@edgeloom/contract/edge/messages.ts';
import { keysNamedIn } from '@edgeloom/contract/edge/sealed.ts';
import type { ZoneKeys } from '@edgeloom/contract/edge/sealed.ts';
import type { Log } from '../log.ts';

/** The zone keys that the node holds, the current one first. */
export interface HeldKeys {
  ids: () => Promise<string[]>;
  /** Resolves when nginx has the keys too. Other held keys follow them. */
  take: (keys: ZoneKeys) => Promise<void>;
  /** Deletes all other keys. */
  keepOnly: (ids: readonly string[]) => Promise<void>;
}

interface Deps {
  held: HeldKeys;
  ask: () => Promise<ZoneKeys>;
  /** The keys in the next heartbeat may differ. */
  changed: () => void;
  stopping: AbortSignal;
  log: Log;
}

export class KeyFollower {
  readonly #deps: Deps;
  #turn: Promise<void> = Promise.resolve();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Fetches the keys that documents name before the documents are applied. */
  async prepare(entries: readonly DocEntry[]): Promise<void> {
    const named = [...new Set(entries.flatMap(({ body }) => (body === null ? [] : keysNamedIn(body))))];
    if (await this.#holds(named)) return;
    await this.take();
    // The key no longer exists. Its document cannot be opened, but the others must not wait.
    if (!(await this.#holds(named)))
      this.#deps.log.error('documents are sealed with a key that the control plane does not provide', { keys: named });
  }

  /** Serialized, so that an older response never replaces a newer one. */
  async take(): Promise<void> {
    const { held, ask, changed } = this.#deps;
    await this.#inTurn(async () => held.take(await ask()));
    changed();
  }

  /**
   * Deletes keys that the heartbeat's reply does not list. Only when the documents match the control plane's exactly,
   * since then no document needs them.
   */
  async compare(sent: Pick<Heartbeat, 'revision' | 'digest'>, { keys: current, revision, digest }: HeartbeatReply) {
    if (current === undefined) return;
    const held = await this.#deps.held.ids();
    if (current.some((id, i) => held[i] !== id)) await this.take();
    else if (held.length > current.length && revision === sent.revision && digest === sent.digest) {
      await this.#inTurn(() => this.#forgetAllBut(current, held));
      this.#deps.changed();
    }
  }

  /** Waits until nginx has read the keys, so that it is not interrupted. */
  settled(): Promise<void> {
    return this.#turn;
  }

  async #holds(named: readonly string[]): Promise<boolean> {
    if (named.length === 0) return true;
    const held = await this.#deps.held.ids();
    return named.every((id) => held.includes(id));
  }

  /** Keys received after that reply are kept. */
  async #forgetAllBut(ids: readonly string[], held: readonly string[]): Promise<void> {
    if (isDeepStrictEqual(await this.#deps.held.ids(), held)) await this.#deps.held.keepOnly(ids);
  }

  #inTurn(task: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(() => {
      if (this.#deps.stopping.aborted) throw new Error('the agent is stopping');
      return task();
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}
