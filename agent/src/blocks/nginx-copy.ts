// nginx's copy of the block set: reads what nginx found and writes what is known.
import { randomUUID } from 'node:crypto';
import type { Admin, Change } from '../nginx/admin.ts';
import type { StoredBlock } from './block-file.ts';
import { changeOf } from './block-key.ts';

type Found = Awaited<ReturnType<Admin['fetchBlocks']>>;

/** nginx decodes this many entries at once while visitors wait. */
const CHUNK = 1000;

export class NginxCopy {
  readonly #nginx: Pick<Admin, 'fetchBlocks' | 'changeBlocks'>;
  /** Identifies the set that nginx holds. */
  mark: string = randomUUID();
  #needsAll = false;
  #holdsAnother = false;
  /** Whether the blocks that nginx reported last are on disk. */
  #lastFetch: 'kept' | 'lost' | undefined = 'lost';

  constructor(nginx: Pick<Admin, 'fetchBlocks' | 'changeBlocks'>) {
    this.#nginx = nginx;
  }

  begin(): void {
    this.mark = randomUUID();
  }

  /** Blocks found under this set do not belong to the next one. */
  async end(): Promise<void> {
    this.#holdsAnother = true;
    await this.#forgetAnother();
  }

  /** Blocks that nginx found, including earlier ones that are not yet `written`. */
  async fetch(room: number): Promise<Found> {
    await this.#forgetAnother();
    const lastFetch = this.#lastFetch;
    // nginx must report again what a lost response contained.
    this.#lastFetch = 'lost';
    const fetched = await this.#nginx.fetchBlocks(room, lastFetch);
    this.#lastFetch = undefined;
    if (fetched.mark !== this.mark) this.#needsAll = true;
    return fetched;
  }

  /** Everything fetched is on disk. */
  written(): void {
    this.#lastFetch ??= 'kept';
  }

  needsAll(): void {
    this.#needsAll = true;
  }

  get isComplete(): boolean {
    return !this.#needsAll;
  }

  async send(changes: readonly Change[]): Promise<void> {
    for (let at = 0; at < changes.length; at += CHUNK) await this.#nginx.changeBlocks(changes.slice(at, at + CHUNK));
  }

  /** When it resolves, nginx has all of them. */
  async complete(blocks: ReadonlyMap<string, StoredBlock>): Promise<void> {
    const now = Date.now();
    const all = Array.from(blocks, ([key, { until, cause }]) => changeOf(key, Math.ceil((until - now) / 1000), cause));
    await this.#nginx.changeBlocks([], { begins: true });
    await this.send(all);
    // The mark comes last: an interrupted transfer starts over.
    await this.#nginx.changeBlocks([], { mark: this.mark });
    this.#needsAll = false;
  }

  async #forgetAnother(): Promise<void> {
    if (!this.#holdsAnother) return;
    await this.#nginx.changeBlocks([], { begins: true });
    this.#holdsAnother = false;
  }
}
