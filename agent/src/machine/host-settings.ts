// Host settings from the node's document, apart from nginx: packet rules, log rotation and the end of a drain.
// Checked on changes and periodically, since a restarted firewall drops its rules.
import type { NodeDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { reason } from '../log.ts';
import type { Log } from '../log.ts';
import { open } from '@edgeloom/contract/zone-firewall/zone-firewall.ts';
import type { Lists } from './firewall/driver.ts';
import type { Geneva } from './geneva.ts';

/** For the ports of the zone. Null: no rules. */
interface GenevaRules {
  apply: (wanted: Geneva | null, ports: readonly number[]) => Promise<void>;
  isApplied: (wanted: Geneva | null) => Promise<boolean>;
}

interface Deps {
  read: () => Promise<{ zone: ZoneDoc; node: NodeDoc | null } | null>;
  geneva: GenevaRules;
  firewall: { follow: (lists: Lists | null) => Promise<void> };
  /** The sockets on which this node accepts visitors of this zone. */
  sockets: (zone: ZoneDoc) => Lists['sockets'];
  /** Addresses that no list blocks, apart from the zone's nodes. */
  trusted: () => readonly string[];
  rotate: () => Promise<void>;
  lastRotation: () => Promise<Date | null>;
  /** Called when a drain has ended, to take out what still serves. */
  drained: () => void;
  log: Log;
}

const CHECK_INTERVAL_MS = 10_000;

export class HostSettings {
  readonly #deps: Deps;
  readonly #startedAt = Date.now();
  #timer: ReturnType<typeof setInterval>;
  #drain: ReturnType<typeof setTimeout> | undefined;
  /** The drain whose end was reported: checks may come between an end and its timer. */
  #reportedDrain: string | undefined;
  #geneva = 'null';
  #work: Promise<void> = Promise.resolve();
  /** The settings that could not be applied, with the reason. */
  error: string | null = null;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#timer = setInterval(() => this.check(), CHECK_INTERVAL_MS).unref();
    this.check();
  }

  check(): void {
    this.#work = this.#work.then(() => this.#look());
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#drain);
    await this.#work;
  }

  async #look(): Promise<void> {
    const { log } = this.#deps;
    try {
      const found = await this.#deps.read();
      if (found === null) return;
      const { zone, node } = found;
      this.#followDrain(node);
      const ports = zone.ports.map(({ port }) => port);
      // A failing setting does not block the others.
      const done = await Promise.allSettled([
        this.#deps.firewall.follow(this.#listsOf(zone, node)),
        this.#followGeneva(node?.geneva ?? null, ports),
        this.#followLogs(node),
      ]);
      for (const one of done) if (one.status === 'rejected') throw one.reason;
      this.error = null;
    } catch (error) {
      const message = reason(error);
      if (message !== this.error) log.warn('a setting of this machine could not be applied', { error });
      this.error = message;
    }
  }

  /** Null: the kernel accepts everyone. A relay has no visitors. */
  #listsOf(zone: ZoneDoc, node: NodeDoc | null): Lists | null {
    const isOpen = zone.firewall === undefined && zone.ipset === undefined;
    if (isOpen || node?.relayPort !== undefined) return null;
    const { whitelist, blacklist, synProtection } = zone.firewall ?? open;
    // Dropping a proxy would drop all its visitors. nginx applies the lists to them.
    const proxies = zone.visitorAddress?.networks ?? [];
    const trusted = [...(zone.relays ?? []).map(({ address }) => address), ...proxies, ...this.#deps.trusted()];
    return {
      whitelist: [...new Set([...whitelist, ...trusted])].sort(),
      blacklist,
      synProtection,
      sockets: this.#deps.sockets(zone),
    };
  }

  #followDrain(node: NodeDoc | null): void {
    clearTimeout(this.#drain);
    const drainUntil = node?.drainUntil;
    if (drainUntil === undefined) return;
    const left = Date.parse(drainUntil) - Date.now();
    if (left <= 0 && drainUntil === this.#reportedDrain) return;
    const report = () => {
      this.#reportedDrain = drainUntil;
      this.#deps.drained();
    };
    // nginx may have been rendered just before the drain ended. The end is exclusive, hence the extra moment.
    this.#drain = setTimeout(report, Math.min(Math.max(left + 10, 0), 2 ** 31 - 1));
  }

  async #followGeneva(set: Geneva | null, ports: readonly number[]): Promise<void> {
    const wanted = ports.length === 0 ? null : set;
    const setting = wanted === null ? 'null' : JSON.stringify([wanted, ports]);
    // Rules are only touched once an operator has set some.
    if (setting === 'null' && this.#geneva === 'null') return;
    const { geneva, log } = this.#deps;
    if (setting === this.#geneva && (await geneva.isApplied(wanted))) return;
    await geneva.apply(wanted, ports);
    this.#geneva = setting;
    log.info('SYN-ACK packet rules were applied', { by: 'geneva' });
  }

  async #followLogs(node: NodeDoc | null): Promise<void> {
    const seconds = node?.logRotateSeconds;
    if (seconds === undefined) return;
    const last = (await this.#deps.lastRotation())?.getTime() ?? this.#startedAt;
    if (Date.now() - last >= seconds * 1000) await this.#deps.rotate();
  }
}
