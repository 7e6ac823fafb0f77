// Resolves origin names for nginx, which receives addresses only, and checks them for changes.
import { isDeepStrictEqual } from 'node:util';
import { concurrentMap } from '../concurrent-map.ts';
import type { LookUp } from '../origins/addresses.ts';

/** Addresses per name beyond this are ignored. */
const MAX_ADDRESSES = 16;
const MAX_CONCURRENT = 64;
/** A silent name server delays the others at most this long. Its late response counts when it arrives. */
const LOOKUP_TIMEOUT_MS = 2000;

export class Names {
  readonly #lookUp: LookUp;
  readonly #onChanged: () => void;
  readonly #known = new Map<string, string[]>();
  #followed = new Set<string>();

  constructor(lookUp: LookUp, onChanged: () => void) {
    this.#lookUp = lookUp;
    this.#onChanged = onChanged;
  }

  /** Resolves exactly these names from now on. */
  async follow(names: ReadonlySet<string>): Promise<void> {
    const fresh = [...names].filter((name) => !this.#followed.has(name));
    this.#followed = new Set(names);
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
    if (fresh.length === 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timedOut = new Promise<void>((resolve) => (timer = setTimeout(resolve, LOOKUP_TIMEOUT_MS)));
    await Promise.race([timedOut, this.#resolve(fresh)]);
    clearTimeout(timer);
  }

  async resolveAgain(): Promise<void> {
    await this.#resolve([...this.#followed]);
  }

  /** Restores the addresses that an earlier agent knew, until they are resolved again. */
  remember(known: Readonly<Record<string, string[]>>): void {
    for (const [name, addresses] of Object.entries(known)) this.#known.set(name, addresses);
  }

  of(name: string): readonly string[] {
    return this.#known.get(name) ?? [];
  }

  #resolve(names: readonly string[]): Promise<void> {
    return concurrentMap(names, MAX_CONCURRENT, async (name) => {
      // A name that cannot be resolved keeps its last addresses.
      const found = await this.#lookUp(name).catch(() => null);
      if (found === null || !this.#followed.has(name)) return;
      const addresses = found.sort().slice(0, MAX_ADDRESSES);
      if (isDeepStrictEqual(addresses, this.#known.get(name))) return;
      this.#known.set(name, addresses);
      this.#onChanged();
    });
  }
}
