// The block set of the zone as this node has it: what its own nginx found and what others did, brought to the kernel, to nginx
// and to the disk. Nobody waits for the control plane: what is found here holds here within a second, and is told as soon as
// somebody listens.
import { rm } from 'node:fs/promises';
import type { BlockPush, BlockReply, BlockReport, BlocksReply } from '@edgeloom/contract/edge/messages.ts';
import { networkOf } from '@edgeloom/contract/ipset/network.ts';
import { reason } from '../log.ts';
import type { Log } from '../log.ts';
import type { Admin, Change } from '../nginx/admin.ts';
import { readBlocks, writeBlocks } from './block-file.ts';
import type { Kept, Untold } from './block-file.ts';
import { KernelCopy } from './kernel-copy.ts';
import type { Kernel } from './kernel-copy.ts';
import { NginxCopy } from './nginx-copy.ts';

type Told = BlocksReply['blocks'][number];

/** How it speaks with the control plane. */
export interface BlockLine {
  reportBlocks: (report: BlockReport) => Promise<BlockReply>;
  blocksSince: (revision: number) => Promise<BlocksReply>;
}

interface Parts {
  file: string;
  /** What the zone says to this node; null: it has no block set. */
  setting: () => Promise<{ zoneID: string; max: number } | null>;
  nginx: Pick<Admin, 'fetchBlocks' | 'changeBlocks'>;
  kernel: Kernel;
  /** Addresses that are never blocked: this machine's, and the control plane's. */
  spared: () => readonly string[];
  /** Null while there is none. */
  line: () => BlockLine | null;
  log: Log;
}

const LOOK_EVERY_MS = 1000;
const REPORT_EVERY_MS = 30_000;
const REPORT_AGAIN_MS = 5000;
const WRITE_EVERY_MS = 10_000;
const EXPIRE_EVERY_MS = 10_000;
/** What was pushed just now is on its way. */
const PUSH_WITHIN_MS = 1500;
const MOST_UNREPORTED = 20_000;
const MOST_IN_REPORT = 1000;
/** As reports have it; by a clock that was set back there may be more. */
const LONGEST_S = 2_592_000;
/** Of the same block, as two nodes tell of it. */
const SAME_MS = 5000;

export class BlockSet {
  readonly #parts: Parts;
  readonly #nginx: NginxCopy;
  readonly #kernel: KernelCopy;
  #blocks = new Map<string, Kept>();
  #revision = 0;
  #zoneID = '';
  #unreported = new Map<string, Untold>();
  #dropped = 0;
  #isWritten = true;
  /** Undefined: it has yet to be read. */
  #setting: { zoneID: string; max: number } | null | undefined;
  #isOff = false;
  #said = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;
  /** Whatever changes the set does so alone. */
  #turn: Promise<void>;
  #talking: Promise<void> | null = null;
  #reportAt = 0;
  #saidRevision = -1;
  #askAt = Number.POSITIVE_INFINITY;
  #writtenAt = 0;
  #expiredAt = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#nginx = new NginxCopy(parts.nginx);
    this.#kernel = new KernelCopy(parts.kernel);
    this.#turn = this.#load();
    this.#look();
  }

  /** What the zone says may be another by now. */
  settingChanged(): void {
    this.#setting = undefined;
  }

  /** What was said before this connection may be lost. */
  connected(): void {
    this.#reportAt = 0;
    this.#askAt = 0;
  }

  pushed(push: BlockPush): void {
    this.#inTurn(async () => {
      if (this.#isOff || push.zone !== this.#zoneID || push.revision <= this.#revision) return;
      if (push.previous > this.#revision) {
        this.#askAt = 0;
        return;
      }
      await this.#take(push.blocks);
      this.#revision = push.revision;
      await this.#kernel.tell(this.#blocks);
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#talking;
    this.#inTurn(() => this.#write());
    await this.#turn;
  }

  #inTurn(task: () => Promise<void>): void {
    this.#turn = this.#alone(this.#turn, task);
  }

  async #alone(before: Promise<void>, task: () => Promise<void>): Promise<void> {
    await before;
    try {
      await task();
    } catch (error) {
      this.#warn('the block set could not be kept', error);
    }
  }

  /** Once, until something else is wrong. */
  #warn(message: string, error: unknown): void {
    const said = reason(error);
    if (said !== this.#said) this.#parts.log.warn(message, { error });
    this.#said = said;
  }

  #look(): void {
    const startedAt = Date.now();
    this.#inTurn(() => this.#tick());
    this.#inTurn(async () => {
      if (this.#isStopped) return;
      this.#timer = setTimeout(() => this.#look(), Math.max(50, startedAt + LOOK_EVERY_MS - Date.now()));
    });
  }

  async #tick(): Promise<void> {
    this.#setting = this.#setting === undefined ? await this.#parts.setting() : this.#setting;
    const setting = this.#setting;
    if (setting === null) {
      await this.#turnOff();
      return;
    }
    if (setting.zoneID !== this.#zoneID) {
      if (this.#zoneID !== '') await this.#turnOff();
      this.#begin(setting.zoneID);
    }
    this.#isOff = false;
    if (Date.now() - this.#expiredAt > EXPIRE_EVERY_MS) this.#expire();
    // nginx may be on its way up; the kernel and the others do not wait for it.
    await this.#fetch(setting.max).catch((error: unknown) =>
      this.#warn('nginx could not be asked whom it blocked', error),
    );
    await this.#kernel.tell(this.#blocks);
    if (Date.now() - this.#writtenAt > WRITE_EVERY_MS) await this.#write();
    this.#talk();
  }

  /** Of another zone nothing is known. */
  #begin(zoneID: string): void {
    this.#zoneID = zoneID;
    this.#revision = 0;
    this.#blocks.clear();
    this.#unreported.clear();
    this.#nginx.begin();
    this.#kernel.lacks();
    this.connected();
  }

  async #turnOff(): Promise<void> {
    if (this.#isOff) return;
    this.#begin('');
    await this.#kernel.tell(this.#blocks);
    // One that is on its way up has nothing to forget, or does so when the set is on again.
    await this.#nginx.end().catch(() => undefined);
    await rm(this.#parts.file, { force: true });
    this.#isWritten = true;
    this.#isOff = true;
  }

  async #load(): Promise<void> {
    const kept = await readBlocks(this.#parts.file).catch(() => null);
    if (kept === null) return;
    this.#zoneID = kept.zoneID;
    this.#revision = kept.revision;
    this.#nginx.mark = kept.mark;
    this.#blocks = kept.blocks;
    this.#unreported = kept.untold;
    this.#expire();
  }

  async #write(): Promise<void> {
    if (this.#isWritten || this.#isOff) return;
    try {
      await writeBlocks(this.#parts.file, {
        zoneID: this.#zoneID,
        revision: this.#revision,
        mark: this.#nginx.mark,
        blocks: this.#blocks,
        untold: this.#unreported,
      });
    } catch (error) {
      // A full disk keeps it neither from nginx nor from the control plane.
      this.#warn('the block set could not be written', error);
      return;
    }
    this.#isWritten = true;
    this.#nginx.written();
    this.#writtenAt = Date.now();
  }

  /** The kernel and nginx do so by themselves. */
  #expire(): void {
    const now = Date.now();
    for (const [network, { until }] of this.#blocks) if (until <= now) this.#blocks.delete(network);
    for (const network of this.#unreported.keys()) if (!this.#blocks.has(network)) this.#unreported.delete(network);
    this.#expiredAt = now;
  }

  async #fetch(max: number): Promise<void> {
    const { found, dropped } = await this.#nginx.fetch(Math.max(0, max - this.#blocks.size));
    // What it found while there was no agent is found all the same.
    this.#dropped += dropped;
    const spared = this.#spared();
    const not: Change[] = [];
    for (const { network, cause, seconds, siteID = null } of found) {
      const until = Date.now() + seconds * 1000;
      if (spared.has(network)) not.push([network, 0, cause]);
      else if (!this.#knows(network, until)) {
        this.#set(network, { until, cause });
        if (this.#unreported.size < MOST_UNREPORTED) this.#unreported.set(network, { siteID });
        else this.#dropped += 1;
      }
    }
    if (this.#nginx.isComplete) {
      await this.#nginx.tell(not);
      return;
    }
    // In the course of it nginx forgets what it has told.
    await this.#write();
    await this.#nginx.complete(this.#blocks);
  }

  #knows(network: string, until: number): boolean {
    const known = this.#blocks.get(network);
    return known !== undefined && Math.abs(known.until - until) <= SAME_MS;
  }

  #set(network: string, block: Kept): void {
    this.#blocks.set(network, block);
    this.#kernel.set(network, block.until);
    this.#isWritten = false;
  }

  #remove(network: string): void {
    this.#blocks.delete(network);
    this.#unreported.delete(network);
    this.#kernel.remove(network);
    this.#isWritten = false;
  }

  /** What the control plane says. */
  async #take(told: readonly Told[]): Promise<void> {
    const now = Date.now();
    const spared = this.#spared();
    const changes: Change[] = [];
    for (const { network, cause, seconds } of told) {
      const until = now + seconds * 1000;
      if (seconds === 0 || spared.has(network)) {
        // Also one that we do not know: what was written last may be older than what nginx was told.
        this.#remove(network);
        changes.push([network, 0, cause]);
      } else if (!this.#knows(network, until)) {
        this.#set(network, { until, cause });
        changes.push([network, seconds, cause]);
      }
    }
    this.#isWritten = false;
    // One that nginx did not hear of it is told all of it.
    await this.#nginx.tell(changes).catch(() => this.#nginx.lacks());
  }

  /** In the background: whoever is slow to answer holds up nothing here. */
  #talk(): void {
    const line = this.#parts.line();
    if (line === null || this.#talking !== null) return;
    const now = Date.now();
    const isNews = this.#unreported.size > 0 || this.#dropped > 0 || this.#saidRevision !== this.#revision;
    const isReport = now >= this.#reportAt && (isNews || now >= this.#reportAt + REPORT_EVERY_MS);
    if (!isReport && now < this.#askAt) return;
    this.#talking = (async () => {
      try {
        if (isReport) await this.#report(line);
        if (Date.now() >= this.#askAt) await this.#ask(line);
      } catch (error) {
        this.#reportAt = Date.now() + REPORT_AGAIN_MS;
        this.#warn('the control plane did not hear of the block set', error);
      } finally {
        this.#talking = null;
      }
    })();
  }

  async #report(line: BlockLine): Promise<void> {
    const now = Date.now();
    const told = [...this.#unreported].slice(0, MOST_IN_REPORT);
    const blocks = told.flatMap(([network, { siteID }]) => {
      const { until, cause } = this.#blocks.get(network) ?? { until: 0, cause: '' };
      return until > now
        ? [{ network, cause, seconds: Math.min(Math.ceil((until - now) / 1000), LONGEST_S), siteID }]
        : [];
    });
    const dropped = this.#dropped;
    const revision = this.#revision;
    const reply = await line.reportBlocks({
      revision,
      size: this.#blocks.size,
      blocks,
      dropped,
      fault: this.#kernel.fault,
    });
    for (const [network, one] of told) if (this.#unreported.get(network) === one) this.#unreported.delete(network);
    if (told.length > 0) this.#isWritten = false;
    this.#dropped -= dropped;
    this.#saidRevision = revision;
    this.#reportAt = Date.now();
    const refused = reply.refused.map((network) => ({ network, cause: '', seconds: 0 }));
    if (refused.length > 0) this.#inTurn(() => this.#take(refused).then(() => this.#kernel.tell(this.#blocks)));
    if (reply.revision < this.#revision) this.#askAt = 0;
    else if (reply.revision > this.#revision) this.#askAt = Math.min(this.#askAt, Date.now() + PUSH_WITHIN_MS);
  }

  /** What this node lacks. What is pushed meanwhile is asked for once more, should it not fit behind. */
  async #ask(line: BlockLine): Promise<void> {
    this.#askAt = Number.POSITIVE_INFINITY;
    const zoneID = this.#zoneID;
    let revision = this.#revision;
    let whole = false;
    let told: Told[] = [];
    for (;;) {
      const page = await line.blocksSince(revision).catch((error: unknown) => {
        this.#askAt = Date.now() + REPORT_AGAIN_MS;
        throw error;
      });
      if (page.whole) {
        whole = true;
        told = [];
      }
      told.push(...page.blocks);
      revision = page.revision;
      if (!page.more) break;
    }
    this.#inTurn(async () => {
      if (this.#isOff || this.#zoneID !== zoneID) return;
      if (whole) {
        const stay = new Set(told.map(({ network }) => network));
        for (const network of this.#blocks.keys())
          if (!stay.has(network) && !this.#unreported.has(network)) this.#remove(network);
        this.#kernel.lacks();
        this.#nginx.lacks();
      }
      await this.#take(told);
      // A push may have been faster; a revision that a backup took back counts.
      if (whole || revision > this.#revision) this.#revision = revision;
      await this.#kernel.tell(this.#blocks);
    });
  }

  #spared(): Set<string> {
    return new Set(this.#parts.spared().flatMap((address) => networkOf(address) ?? []));
  }
}
