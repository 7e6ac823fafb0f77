// The block set in nginx: what nginx found comes from there, what is known is brought there.
import { randomUUID } from 'node:crypto';
import type { Admin, Change } from '../nginx/admin.ts';
import type { Kept } from './block-file.ts';

type Found = Awaited<ReturnType<Admin['fetchBlocks']>>;

/** What nginx decodes at once, while its visitors wait. */
const CHUNK = 1000;

export class NginxCopy {
  readonly #nginx: Pick<Admin, 'fetchBlocks' | 'changeBlocks'>;
  /** By which nginx knows that it has this set. */
  mark: string = randomUUID();
  #needsAll = false;
  #holdsAnother = false;
  /** What became of what it told before. */
  #had: 'kept' | 'lost' | undefined = 'lost';

  constructor(nginx: Pick<Admin, 'fetchBlocks' | 'changeBlocks'>) {
    this.#nginx = nginx;
  }

  begin(): void {
    this.mark = randomUUID();
  }

  /** What nginx found for this set is not for the next. */
  async end(): Promise<void> {
    this.#holdsAnother = true;
    await this.#forgetAnother();
  }

  /** Who was found, also before and not yet `written`. */
  async fetch(room: number): Promise<Found> {
    await this.#forgetAnother();
    const had = this.#had;
    // An answer that is lost was told all the same.
    this.#had = 'lost';
    const fetched = await this.#nginx.fetchBlocks(room, had);
    this.#had = undefined;
    if (fetched.mark !== this.mark) this.#needsAll = true;
    return fetched;
  }

  /** All that was fetched is on disk. */
  written(): void {
    this.#had ??= 'kept';
  }

  lacks(): void {
    this.#needsAll = true;
  }

  get isComplete(): boolean {
    return !this.#needsAll;
  }

  async tell(changes: readonly Change[]): Promise<void> {
    for (let at = 0; at < changes.length; at += CHUNK) await this.#nginx.changeBlocks(changes.slice(at, at + CHUNK));
  }

  /** Once it is back, nginx has all of them. */
  async complete(blocks: ReadonlyMap<string, Kept>): Promise<void> {
    const now = Date.now();
    const all = Array.from(blocks, ([network, { until, cause }]): Change => [
      network,
      Math.ceil((until - now) / 1000),
      cause,
    ]);
    await this.#nginx.changeBlocks([], { begins: true });
    await this.tell(all);
    // Last: one that was interrupted is begun anew.
    await this.#nginx.changeBlocks([], { mark: this.mark });
    this.#needsAll = false;
  }

  async #forgetAnother(): Promise<void> {
    if (!this.#holdsAnother) return;
    await this.#nginx.changeBlocks([], { begins: true });
    this.#holdsAnother = false;
  }
}
