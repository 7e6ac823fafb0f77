// The control plane's addresses. No list of a zone may block them: it probes nodes like a visitor.
import { lookup } from 'node:dns/promises';

export class ControlAddresses {
  readonly #urls: () => readonly string[];
  #known = new Map<string, string[]>();
  #isLooking = false;

  constructor(urls: () => readonly string[]) {
    this.#urls = urls;
  }

  /** The last known addresses. Reading them starts a new lookup in the background. */
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
      // A name that cannot be resolved keeps its last addresses.
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

/** NATS servers may be configured without a scheme. An invalid URL yields nothing. */
function hostOf(url: string): string[] {
  const full = url.includes('://') ? url : `nats://${url}`;
  return URL.canParse(full) ? [new URL(full).hostname.replaceAll(/[[\]]/g, '')] : [];
}
