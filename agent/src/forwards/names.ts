// Where the names of origins lead. nginx is told addresses, so somebody has to look whether they still hold.
import { isDeepStrictEqual } from 'node:util';
import { each } from '../each.ts';
import type { LookUp } from '../origins/addresses.ts';

/** More addresses than this nobody's name needs. */
const MOST_ADDRESSES = 16;
const AT_ONCE = 64;
/** A name server that is silent holds nobody else up: what it says later counts then. */
const WAITED_FOR_MS = 2000;

export class Names {
  readonly #lookUp: LookUp;
  readonly #onChanged: () => void;
  readonly #known = new Map<string, string[]>();
  #followed = new Set<string>();

  constructor(lookUp: LookUp, onChanged: () => void) {
    this.#lookUp = lookUp;
    this.#onChanged = onChanged;
  }

  /** From now on these and no others. */
  async follow(names: ReadonlySet<string>): Promise<void> {
    const fresh = [...names].filter((name) => !this.#followed.has(name));
    this.#followed = new Set(names);
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
    if (fresh.length === 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const waited = new Promise<void>((resolve) => (timer = setTimeout(resolve, WAITED_FOR_MS)));
    await Promise.race([waited, this.#look(fresh)]);
    clearTimeout(timer);
  }

  async lookAgain(): Promise<void> {
    await this.#look([...this.#followed]);
  }

  /** What an earlier agent knew, until it is known better. */
  remember(known: Readonly<Record<string, string[]>>): void {
    for (const [name, addresses] of Object.entries(known)) this.#known.set(name, addresses);
  }

  of(name: string): readonly string[] {
    return this.#known.get(name) ?? [];
  }

  #look(names: readonly string[]): Promise<void> {
    return each(names, AT_ONCE, async (name) => {
      // While nobody can say where a name leads, it leads where it did.
      const found = await this.#lookUp(name).catch(() => null);
      if (found === null || !this.#followed.has(name)) return;
      const addresses = found.sort().slice(0, MOST_ADDRESSES);
      if (isDeepStrictEqual(addresses, this.#known.get(name))) return;
      this.#known.set(name, addresses);
      this.#onChanged();
    });
  }
}
