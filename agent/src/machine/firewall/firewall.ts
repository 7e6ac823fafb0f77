// The firewall of a zone in the kernel of this machine: on the ports that the node serves and no others, so that whoever is on
// a list is a visitor no more, and everything else of the machine (SSH, our own connections) goes on as it did. What is to
// stand is kept here, so that it is put back when another firewall took it away.
import { isIP } from 'node:net';
import type { Env } from '../../env.ts';
import { reason } from '../../log.ts';
import type { Log } from '../../log.ts';
import { addressOf, causes, nothing } from './driver.ts';
import type { Blocked, Counted, Driver, Lists } from './driver.ts';
import { ipset } from './ipset.ts';
import { nftables } from './nftables.ts';

/** Networks that are dropped for their score. */
export interface Risk {
  /** Tells one set from another: the same name is not loaded again. */
  name: string;
  /** In the form that has no bits behind the mask. Asked for again when the kernel has lost them: nobody keeps a million texts. */
  networks: () => Iterable<string>;
}

export interface Dropped extends Counted {
  since: string;
}

/** What is tried, in this order. None: the kernel is left alone. */
export const driversFor = ({ EDGELOOM_FIREWALL }: Pick<Env, 'EDGELOOM_FIREWALL'>): Driver[] =>
  EDGELOOM_FIREWALL === 'nginx' ? [] : [nftables(), ipset()];

/** Whether one of them works here, without any of it being used. */
export const canDrop = (drivers: readonly Driver[]): Promise<boolean> =>
  working(drivers).then(
    () => true,
    () => false,
  );

/** By trying: a program that is there may not work. */
async function working(drivers: readonly Driver[]): Promise<Driver> {
  const faults: string[] = [];
  for (const driver of drivers) {
    try {
      await driver.tryOut();
      return driver;
    } catch (error) {
      faults.push(`${driver.name}: ${reason(error)}`);
    }
  }
  throw new Error(
    `the kernel of this machine drops no packets for us, and nginx refuses whom it can: ${faults.join('; ')}`,
  );
}

export class Firewall {
  readonly #drivers: readonly Driver[];
  readonly #log: Log;
  readonly #since = new Date().toISOString();
  #driver: Driver | null = null;
  #lists: Lists | null = null;
  /** Undefined: nobody has said yet, and what an agent before this one loaded stays. */
  #risk: Risk | null | undefined;
  /** What is blocked, and until when. */
  readonly #blocked = new Map<string, number>();
  /** What the kernel was told; null: nothing since this process is there. */
  #applied: string | null = null;
  #loaded: string | null | undefined;
  #holdsBlocked = true;
  /** Whether nothing of ours is there, as far as we know. */
  #isGone = false;
  readonly #total = nothing();
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(drivers: readonly Driver[], log: Log) {
    this.#drivers = drivers;
    this.#log = log;
  }

  /** Looks what this machine can do. */
  static async open(log: Log, drivers: readonly Driver[] = [nftables(), ipset()]): Promise<Firewall> {
    const firewall = new Firewall(drivers, log);
    await firewall.#find().catch(() => undefined);
    // What came before is nobody's.
    await firewall.#driver?.counted();
    return firewall;
  }

  /** Whether the kernel drops packets for us at all. Where it does not, nginx has to refuse. */
  get canDrop(): boolean {
    return this.#driver !== null;
  }

  /**
   * What the zone wants of this node now. Called again and again: what somebody took away comes back. Null: nothing, and nothing
   * of ours stays. Throws what cannot be.
   */
  follow(lists: Lists | null): Promise<void> {
    return this.#inTurn(async () => {
      this.#lists = lists;
      await this.#settle();
    });
  }

  /** Null: none. What cannot be loaded is thrown, and tried again at each look. */
  setRisk(risk: Risk | null): Promise<void> {
    return this.#inTurn(async () => {
      this.#risk = risk;
      await this.#settle();
    });
  }

  /** These and no others. Throws what the kernel refused; it is tried again at each look. */
  replaceBlocked(entries: Iterable<Blocked>): Promise<void> {
    return this.#inTurn(async () => {
      this.#blocked.clear();
      this.#remember(entries);
      this.#holdsBlocked = false;
      await this.#settle();
    });
  }

  /** One that is blocked already takes the new time; that one was not is no fault. */
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
        // Most likely there is no set any more.
        this.#holdsBlocked = false;
        await this.#settle();
      }
    });
  }

  /** For another zone: nothing of this one is known any more. */
  forget(): Promise<void> {
    return this.#inTurn(async () => {
      this.#lists = null;
      this.#risk = undefined;
      this.#blocked.clear();
      await this.#settle();
    });
  }

  /** What the kernel dropped since this agent is at work; null where it drops nothing for us. */
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
    const said = JSON.stringify(this.#lists);
    const isFirst = this.#applied === null;
    const stands = !isFirst && (await driver.stands());
    if (isFirst) await this.#removeOthers(driver);
    if (!stands || said !== this.#applied) {
      if (!stands && !isFirst) {
        this.#log.warn('the rules for packets were gone, and are put back');
        this.#loaded = null;
        this.#holdsBlocked = false;
      }
      await driver.apply(this.#lists);
      this.#applied = said;
      this.#isGone = false;
      this.#log.info('rules for packets were applied', { by: driver.name });
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

  /** One that is no address would have the kernel refuse all of them, for ever. */
  #remember(entries: Iterable<Blocked>): void {
    for (const entry of entries)
      if (isSound(entry)) this.#blocked.set(entry.network, Date.now() + entry.seconds * 1000);
  }

  *#entries(): Generator<Blocked> {
    for (const [network, until] of this.#blocked) yield { network, seconds: (until - Date.now()) / 1000 };
  }

  /** The kernel forgets them by itself. */
  #expire(): void {
    const now = Date.now();
    for (const [network, until] of this.#blocked) if (until <= now) this.#blocked.delete(network);
  }

  /** What an agent before this one left is removed as well: its operator may have emptied the lists while none was there. */
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

  /** Rules of both would drop twice, and those of the one that is no longer used would never change. */
  async #removeOthers(used: Driver): Promise<void> {
    for (const driver of this.#drivers) if (driver !== used) await driver.remove().catch(() => undefined);
  }

  async #find(): Promise<Driver> {
    this.#driver = await working(this.#drivers);
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
