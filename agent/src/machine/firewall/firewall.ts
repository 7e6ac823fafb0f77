// The zone's firewall in this machine's kernel, on the served ports only. SSH and our own connections are not affected.
// The intended state is kept here, so that rules removed by another firewall can be restored.
import { isIP } from 'node:net';
import type { Env } from '../../env.ts';
import { reason } from '../../log.ts';
import type { Log } from '../../log.ts';
import { addressOf, causes, nothing } from './driver.ts';
import type { Blocked, Counted, Driver, Lists } from './driver.ts';
import { ipset } from './ipset.ts';
import { nftables } from './nftables.ts';

/** Networks dropped for their risk score. */
export interface Risk {
  /** Identifies the set. A set with the same name is not loaded again. */
  name: string;
  /** Canonical form, without host bits. Read again when the kernel lost them, so that no copy stays in memory. */
  networks: () => Iterable<string>;
}

export interface Dropped extends Counted {
  since: string;
}

/** Tried in this order. Empty: the kernel is not used. */
export const driversFor = ({ EDGELOOM_FIREWALL }: Pick<Env, 'EDGELOOM_FIREWALL'>): Driver[] =>
  EDGELOOM_FIREWALL === 'nginx' ? [] : [nftables(), ipset()];

/** Whether one of them works here. Uses none of them. */
export const canDrop = (drivers: readonly Driver[]): Promise<boolean> =>
  findWorkingDriver(drivers).then(
    () => true,
    () => false,
  );

/** Tries each one, since an installed program may not work. */
async function findWorkingDriver(drivers: readonly Driver[]): Promise<Driver> {
  const faults: string[] = [];
  for (const driver of drivers) {
    try {
      await driver.probe();
      return driver;
    } catch (error) {
      faults.push(`${driver.name}: ${reason(error)}`);
    }
  }
  throw new Error(
    `the kernel of this machine drops no packets for us, so only nginx refuses requests: ${faults.join('; ')}`,
  );
}

export class Firewall {
  readonly #drivers: readonly Driver[];
  readonly #log: Log;
  readonly #since = new Date().toISOString();
  #driver: Driver | null = null;
  #lists: Lists | null = null;
  /** Undefined: not set yet, and the set of an earlier agent stays. */
  #risk: Risk | null | undefined;
  /** Blocked networks and their expiry. */
  readonly #blocked = new Map<string, number>();
  /** The rules applied by this process. Null: none yet. */
  #applied: string | null = null;
  #loaded: string | null | undefined;
  #holdsBlocked = true;
  /** Whether our rules and sets were removed from the kernel. */
  #isGone = false;
  readonly #total = nothing();
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(drivers: readonly Driver[], log: Log) {
    this.#drivers = drivers;
    this.#log = log;
  }

  /** Finds the driver that works on this machine. */
  static async open(log: Log, drivers: readonly Driver[] = [nftables(), ipset()]): Promise<Firewall> {
    const firewall = new Firewall(drivers, log);
    await firewall.#find().catch(() => undefined);
    // Discards counts from before this process.
    await firewall.#driver?.counted();
    return firewall;
  }

  /** Whether the kernel drops packets for us. Otherwise nginx must reject. */
  get canDrop(): boolean {
    return this.#driver !== null;
  }

  /**
   * Applies the zone's lists. Safe to repeat: restores rules that were removed. Null removes all of our rules.
   * Throws the reason of a failure.
   */
  follow(lists: Lists | null): Promise<void> {
    return this.#inTurn(async () => {
      this.#lists = lists;
      await this.#settle();
    });
  }

  /** Null: no risk set. A failure is thrown, and retried at each check. */
  setRisk(risk: Risk | null): Promise<void> {
    return this.#inTurn(async () => {
      this.#risk = risk;
      await this.#settle();
    });
  }

  /** Replaces the block set. A failure is thrown, and retried at each check. */
  replaceBlocked(entries: Iterable<Blocked>): Promise<void> {
    return this.#inTurn(async () => {
      this.#blocked.clear();
      this.#remember(entries);
      this.#holdsBlocked = false;
      await this.#settle();
    });
  }

  /** An already blocked network gets the new time. Removing a missing one is no error. */
  changeBlocked(add: readonly Blocked[], remove: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      for (const network of remove) this.#blocked.delete(network);
      this.#remember(add);
      if (this.#applied === null || this.#driver === null || !this.#holdsBlocked) {
        this.#holdsBlocked = false;
        return this.#settle();
      }
      try {
        await this.#driver.changeBlocked(
          add.filter(isSound),
          remove.filter((network) => isIP(addressOf(network)) !== 0),
        );
      } catch {
        // The set is probably gone.
        this.#holdsBlocked = false;
        await this.#settle();
      }
    });
  }

  /** Discards everything, for a move to another zone. */
  forget(): Promise<void> {
    return this.#inTurn(async () => {
      this.#lists = null;
      this.#risk = undefined;
      this.#blocked.clear();
      await this.#settle();
    });
  }

  /** Packets dropped since this agent started. Null where the kernel drops nothing for us. */
  async dropped(): Promise<Dropped | null> {
    await this.#count();
    return this.#applied === null ? null : { since: this.#since, ...structuredClone(this.#total) };
  }

  async #settle(): Promise<void> {
    this.#expire();
    if (this.#drivers.length === 0) return;
    const isWanted = this.#lists !== null && this.#lists.sockets.length > 0;
    if (!isWanted || this.#lists === null) return this.#remove();
    const driver = this.#driver ?? (await this.#find());
    const wanted = JSON.stringify(this.#lists);
    const isFirst = this.#applied === null;
    const isApplied = !isFirst && (await driver.isApplied());
    if (isFirst) await this.#removeOthers(driver);
    if (!isApplied || wanted !== this.#applied) {
      if (!isApplied && !isFirst) {
        this.#log.warn('packet rules were removed by another program and are restored');
        this.#loaded = null;
        this.#holdsBlocked = false;
      }
      await driver.apply(this.#lists);
      this.#applied = wanted;
      this.#isGone = false;
      this.#log.info('packet rules were applied', { by: driver.name });
    }
    await this.#fill(driver);
  }

  async #fill(driver: Driver): Promise<void> {
    if (!this.#holdsBlocked) await driver.replaceBlocked(this.#entries());
    this.#holdsBlocked = true;
    if (this.#risk === undefined) return;
    const name = this.#risk?.name ?? null;
    if (name === this.#loaded) return;
    await driver.replaceRisk(this.#risk?.networks() ?? []);
    this.#loaded = name;
  }

  /** One invalid address would make the kernel refuse the whole set. */
  #remember(entries: Iterable<Blocked>): void {
    for (const entry of entries)
      if (isSound(entry)) this.#blocked.set(entry.network, Date.now() + entry.seconds * 1000);
  }

  *#entries(): Generator<Blocked> {
    for (const [network, until] of this.#blocked) yield { network, seconds: (until - Date.now()) / 1000 };
  }

  /** The kernel expires entries on its own. */
  #expire(): void {
    const now = Date.now();
    for (const [network, until] of this.#blocked) if (until <= now) this.#blocked.delete(network);
  }

  /** Also removes an earlier agent's rules: the lists may have been emptied while no agent ran. */
  async #remove(): Promise<void> {
    if (this.#isGone) return;
    await this.#count();
    for (const driver of this.#drivers)
      await driver.remove().catch((error: unknown) => {
        if (driver === this.#driver) throw error;
      });
    this.#applied = null;
    this.#loaded = null;
    this.#holdsBlocked = false;
    this.#isGone = true;
  }

  /** Rules of two drivers would count drops twice, and those of the unused one would never change. */
  async #removeOthers(used: Driver): Promise<void> {
    for (const driver of this.#drivers) if (driver !== used) await driver.remove().catch(() => undefined);
  }

  async #find(): Promise<Driver> {
    this.#driver = await findWorkingDriver(this.#drivers);
    return this.#driver;
  }

  async #count(): Promise<void> {
    const counted = this.#isGone ? undefined : await this.#driver?.counted();
    if (counted === undefined) return;
    for (const cause of causes)
      for (const unit of ['packets', 'bytes'] as const) this.#total[cause][unit] += counted[cause][unit];
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(task);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

const isSound = ({ network }: Blocked) => isIP(addressOf(network)) !== 0;
