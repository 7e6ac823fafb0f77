// Where the control plane is, so that no list of a zone keeps it out: it looks at nodes as a visitor would.
import { lookup } from 'node:dns/promises';

export class ControlAddresses {
  readonly #urls: () => readonly string[];
  #known = new Map<string, string[]>();
  #isLooking = false;

  constructor(urls: () => readonly string[]) {
    this.#urls = urls;
  }

  /** As it was last known; each question has the names looked up once more, and waits for none. */
  get addresses(): string[] {
    void this.#look();
    return [...new Set([...this.#known.values()].flat())].sort();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const hosts = new Set(this.#urls().flatMap(hostOf));
    for (const host of this.#known.keys()) if (!hosts.has(host)) this.#known.delete(host);
    for (const host of hosts) {
      // Where nobody can say, a name leads where it did.
      const found = await lookup(host, { all: true }).catch(() => null);
      if (found !== null)
        this.#known.set(
          host,
          found.map(({ address }) => address),
        );
    }
    this.#isLooking = false;
  }
}

/** Of NATS' servers some are told without a scheme. One that is no address leads nowhere. */
function hostOf(url: string): string[] {
  const full = url.includes('://') ? url : `nats://${url}`;
  return URL.canParse(full) ? [new URL(full).hostname.replaceAll(/[[\]]/g, '')] : [];
}
