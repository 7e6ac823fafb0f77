// What its operator set of this machine itself, apart from what nginx is rendered from: its rules for packets, when
// logs are set aside, and the end of a drain. Looked at when the node's document changes, and again and again: a firewall
// that was started anew has forgotten its rules.
import type { NodeDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { reason } from '../log.ts';
import type { Log } from '../log.ts';
import { open } from '@edgeloom/contract/zone-firewall/zone-firewall.ts';
import type { Lists } from './firewall/driver.ts';
import type { Geneva } from './geneva.ts';

/** On the ports of the zone. Null: none. */
interface GenevaRules {
  apply: (wanted: Geneva | null, ports: readonly number[]) => Promise<void>;
  stands: (wanted: Geneva | null) => Promise<boolean>;
}

interface Parts {
  read: () => Promise<{ zone: ZoneDoc; node: NodeDoc | null } | null>;
  geneva: GenevaRules;
  firewall: { follow: (lists: Lists | null) => Promise<void> };
  /** Where this node lets visitors of such a zone in. */
  sockets: (zone: ZoneDoc) => Lists['sockets'];
  /** Whom no list keeps out, apart from the zone's own nodes. */
  trusted: () => readonly string[];
  rotate: () => Promise<void>;
  lastRotation: () => Promise<Date | null>;
  /** A drain has ended: what it left serving is to be taken out. */
  drained: () => void;
  log: Log;
}

const LOOK_EVERY_MS = 10_000;

export class OwnSettings {
  readonly #parts: Parts;
  readonly #startedAt = Date.now();
  #timer: ReturnType<typeof setInterval>;
  #drain: ReturnType<typeof setTimeout> | undefined;
  #drainUntil: string | undefined;
  #geneva = 'null';
  #work: Promise<void> = Promise.resolve();
  /** What of it could not be done. */
  error: string | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
    this.look();
  }

  look(): void {
    this.#work = this.#work.then(() => this.#look());
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#drain);
    await this.#work;
  }

  async #look(): Promise<void> {
    const { log } = this.#parts;
    try {
      const found = await this.#parts.read();
      if (found === null) return;
      const { zone, node } = found;
      this.#followDrain(node);
      const ports = zone.ports.map(({ port }) => port);
      // One that the machine refuses keeps back none of the others.
      const done = await Promise.allSettled([
        this.#parts.firewall.follow(this.#listsOf(zone, node)),
        this.#followGeneva(node?.geneva ?? null, ports),
        this.#followLogs(node),
      ]);
      for (const one of done) if (one.status === 'rejected') throw one.reason;
      this.error = null;
    } catch (error) {
      const said = reason(error);
      if (said !== this.error) log.warn('a setting of this machine could not be applied', { error });
      this.error = said;
    }
  }

  /** Null: its kernel lets everybody in. A relay has no visitors. */
  #listsOf(zone: ZoneDoc, node: NodeDoc | null): Lists | null {
    const isOpen = zone.firewall === undefined && zone.ipset === undefined;
    if (isOpen || node?.relayPort !== undefined) return null;
    const { whitelist, blacklist, synProtection } = zone.firewall ?? open;
    const trusted = [...(zone.relays ?? []).map(({ address }) => address), ...this.#parts.trusted()];
    return {
      whitelist: [...new Set([...whitelist, ...trusted])].sort(),
      blacklist,
      synProtection,
      sockets: this.#parts.sockets(zone),
    };
  }

  #followDrain(node: NodeDoc | null): void {
    clearTimeout(this.#drain);
    const drainUntil = node?.drainUntil;
    const isNew = drainUntil !== this.#drainUntil;
    this.#drainUntil = drainUntil;
    if (drainUntil === undefined) return;
    const left = Date.parse(drainUntil) - Date.now();
    // nginx may have been configured just before a drain that is over by now. A moment later: the end is exclusive.
    if (left > 0 || isNew) {
      this.#drain = setTimeout(() => this.#parts.drained(), Math.min(Math.max(left, 0) + 10, 2 ** 31 - 1));
    }
  }

  async #followGeneva(set: Geneva | null, ports: readonly number[]): Promise<void> {
    const wanted = ports.length === 0 ? null : set;
    const said = wanted === null ? 'null' : JSON.stringify([wanted, ports]);
    // Nothing is asked of a machine whose operator never set anything.
    if (said === 'null' && this.#geneva === 'null') return;
    const { geneva, log } = this.#parts;
    if (said === this.#geneva && (await geneva.stands(wanted))) return;
    await geneva.apply(wanted, ports);
    this.#geneva = said;
    log.info('packets of answers were set', { by: 'geneva' });
  }

  async #followLogs(node: NodeDoc | null): Promise<void> {
    const seconds = node?.logRotateSeconds;
    if (seconds === undefined) return;
    const last = (await this.#parts.lastRotation())?.getTime() ?? this.#startedAt;
    if (Date.now() - last >= seconds * 1000) await this.#parts.rotate();
  }
}
