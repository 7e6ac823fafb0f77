// Sums of whole hours, in the memory of this process. An entry is valid while its version is that of the database, so
// other processes need not report their changes.

/** About 200 bytes each. */
const MAX_STEPS = 200_000;

interface Entry<Steps> {
  version: string;
  steps: Steps;
}

export class StepCache<Steps extends { readonly size: number }> {
  /** The least recently used come first. */
  readonly #entries = new Map<string, Entry<Steps>>();
  #size = 0;

  get(key: string, version: string): Steps | undefined {
    const entry = this.#entries.get(key);
    if (entry?.version !== version) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.steps;
  }

  set(key: string, version: string, steps: Steps): void {
    this.#delete(key);
    this.#entries.set(key, { version, steps });
    // An hour without steps takes memory, too.
    this.#size += steps.size + 1;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= MAX_STEPS) break;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#size -= entry.steps.size + 1;
  }
}
