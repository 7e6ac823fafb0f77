// The kernel's copy of the block set. The firewall keeps refused entries and retries them.
import { reason } from '../log.ts';
import type { StoredBlock } from './block-file.ts';
import { isOfSite } from './block-key.ts';

interface Entry {
  network: string;
  seconds: number;
}
export interface Kernel {
  canDrop: boolean;
  replaceBlocked: (entries: Iterable<Entry>) => Promise<void>;
  changeBlocked: (add: readonly Entry[], remove: readonly string[]) => Promise<void>;
}

/** The firewall repairs itself at the same interval. */
const RETRY_INTERVAL_MS = 10_000;

export class KernelCopy {
  readonly #kernel: Kernel;
  readonly #adds = new Map<string, number>();
  readonly #removes = new Set<string>();
  #needsAll = true;
  /** Error of the last change. Empty: none. */
  #error = '';
  #retryAt = 0;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Why the kernel does not drop blocked addresses. Empty when it does. */
  get fault(): string {
    if (this.#error !== '') return this.#error;
    return this.#kernel.canDrop ? '' : 'this kernel drops no packets for us: neither nftables nor ipset works here';
  }

  set(network: string, until: number): void {
    if (isOfSite(network)) return;
    this.#removes.delete(network);
    this.#adds.set(network, until);
  }

  remove(network: string): void {
    if (isOfSite(network)) return;
    this.#adds.delete(network);
    this.#removes.add(network);
  }

  needsAll(): void {
    this.#needsAll = true;
  }

  async send(blocks: ReadonlyMap<string, StoredBlock>): Promise<void> {
    const isAll = this.#needsAll;
    const now = Date.now();
    // An empty change succeeds once the firewall holds all entries.
    const isRetry = this.#error !== '' && now >= this.#retryAt;
    if (!isAll && !isRetry && this.#adds.size === 0 && this.#removes.size === 0) return;
    const entry = (network: string, until: number) => ({ network, seconds: (until - now) / 1000 });
    const entries = isAll
      ? [...blocks].flatMap(([network, { until }]) => (isOfSite(network) ? [] : [entry(network, until)]))
      : Array.from(this.#adds, ([network, until]) => entry(network, until));
    const removes = [...this.#removes];
    this.#needsAll = false;
    this.#adds.clear();
    this.#removes.clear();
    try {
      if (isAll) await this.#kernel.replaceBlocked(entries);
      else await this.#kernel.changeBlocked(entries, removes);
      this.#error = '';
    } catch (error) {
      this.#error = reason(error).slice(0, 300);
      this.#retryAt = now + RETRY_INTERVAL_MS;
    }
  }
}
