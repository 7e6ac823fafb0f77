// This node's copy of the zone's block set, kept in nginx, in the kernel and on disk.
// Blocks found here take effect here within a second, without the control plane, and are reported when it is reachable.
import { rm } from 'node:fs/promises';
import type { BlockPush, BlockReply, BlockReport, BlocksReply } from '@edgeloom/contract/edge/messages.ts';
import { networkOf } from '@edgeloom/contract/ipset/network.ts';
import { reason } from '../log.ts';
import type { Log } from '../log.ts';
import type { Admin, Change } from '../nginx/admin.ts';
import { readBlocks, writeBlocks } from './block-file.ts';
import type { StoredBlock, UnreportedBlock } from './block-file.ts';
import { changeOf, isOfSite, keyOf, partsOf } from './block-key.ts';
import { KernelCopy } from './kernel-copy.ts';
import type { Kernel } from './kernel-copy.ts';
import { NginxCopy } from './nginx-copy.ts';

/** `siteID`: for this site only. */
type BlockChange = BlocksReply['blocks'][number] & { siteID?: string };

/** The block set's calls to the control plane. */
export interface BlockLine {
  reportBlocks: (report: BlockReport) => Promise<BlockReply>;
  blocksSince: (revision: number) => Promise<BlocksReply>;
}

interface Deps {
  file: string;
  /** The zone's setting for this node. Null: the zone has no block set. */
  setting: () => Promise<{ zoneID: string; max: number } | null>;
  nginx: Pick<Admin, 'fetchBlocks' | 'changeBlocks'>;
  kernel: Kernel;
  /** Addresses that are never blocked: those of this machine and of the control plane. */
  alwaysAllowed: () => readonly string[];
  /** Null while disconnected. */
  line: () => BlockLine | null;
  log: Log;
}

const CHECK_INTERVAL_MS = 1000;
const REPORT_INTERVAL_MS = 30_000;
const RETRY_MS = 5000;
const WRITE_INTERVAL_MS = 10_000;
const EXPIRE_INTERVAL_MS = 10_000;
/** A push that is younger than this may still be in transit. */
const PUSH_GRACE_MS = 1500;
const MAX_UNREPORTED = 20_000;
const MAX_PER_REPORT = 1000;
/** Longest time that a report may contain. It can be exceeded when the clock was set back. */
const MAX_SECONDS = 2_592_000;
/** Two nodes report the same block with times that differ by at most this. */
const TIME_TOLERANCE_MS = 5000;

export class BlockSet {
  readonly #deps: Deps;
  readonly #nginx: NginxCopy;
  readonly #kernel: KernelCopy;
  #blocks = new Map<string, StoredBlock>();
  #revision = 0;
  #zoneID = '';
  #unreported = new Map<string, UnreportedBlock>();
  #unreportedDrops = 0;
  #isWritten = true;
  /** Undefined: it may have changed since it was read. */
  #setting: ReturnType<Deps['setting']> | undefined;
  #isOff = false;
  #lastWarning = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;
  /** Serializes all changes of the set. */
  #queue: Promise<void>;
  /** The running exchange with the control plane. */
  #exchange: Promise<void> | null = null;
  #reportAt = 0;
  #reportedRevision = -1;
  #requestAt = Number.POSITIVE_INFINITY;
  #writtenAt = 0;
  #expiredAt = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#nginx = new NginxCopy(deps.nginx);
    this.#kernel = new KernelCopy(deps.kernel);
    this.#queue = this.#load();
    this.#schedule();
  }

  /** Called when the zone's setting may have changed. */
  settingChanged(): void {
    this.#setting = undefined;
  }

  /** Messages sent before this connection may be lost. */
  connected(): void {
    this.#reportAt = 0;
    this.#requestAt = 0;
  }

  pushed(push: BlockPush): void {
    this.#enqueue(async () => {
      if (this.#isOff || push.zone !== this.#zoneID || push.revision <= this.#revision) return;
      if (push.previous > this.#revision) {
        this.#requestAt = 0;
        return;
      }
      await this.#apply([...push.blocks, ...(push.sites ?? [])]);
      this.#revision = push.revision;
      await this.#kernel.send(this.#blocks);
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#exchange;
    this.#enqueue(() => this.#write());
    await this.#queue;
  }

  #enqueue(task: () => Promise<void>): void {
    this.#queue = this.#runAfter(this.#queue, task);
  }

  async #runAfter(before: Promise<void>, task: () => Promise<void>): Promise<void> {
    await before;
    try {
      await task();
    } catch (error) {
      this.#warn('the block set could not be written', error);
    }
  }

  /** Logs a warning once, until a different one occurs. */
  #warn(message: string, error: unknown): void {
    const warning = reason(error);
    if (warning !== this.#lastWarning) this.#deps.log.warn(message, { error });
    this.#lastWarning = warning;
  }

  #schedule(): void {
    const startedAt = Date.now();
    this.#enqueue(() => this.#tick());
    this.#enqueue(async () => {
      if (this.#isStopped) return;
      this.#timer = setTimeout(() => this.#schedule(), Math.max(50, startedAt + CHECK_INTERVAL_MS - Date.now()));
    });
  }

  async #tick(): Promise<void> {
    const setting = await this.#readSetting();
    if (setting === null) {
      await this.#turnOff();
      return;
    }
    if (setting.zoneID !== this.#zoneID) {
      if (this.#zoneID !== '') await this.#turnOff();
      this.#startEmpty(setting.zoneID);
    }
    this.#isOff = false;
    if (Date.now() - this.#expiredAt > EXPIRE_INTERVAL_MS) this.#expire();
    // nginx may still be starting. The kernel and the other nodes do not wait for it.
    await this.#fetch(setting.max).catch((error: unknown) =>
      this.#warn('the blocks of nginx could not be fetched', error),
    );
    await this.#kernel.send(this.#blocks);
    if (Date.now() - this.#writtenAt > WRITE_INTERVAL_MS) await this.#write();
    this.#startExchange();
  }

  /** A change during the read causes another read in the next tick. */
  async #readSetting(): ReturnType<Deps['setting']> {
    this.#setting ??= this.#deps.setting();
    try {
      return await this.#setting;
    } catch (error) {
      this.#setting = undefined;
      throw error;
    }
  }

  /** Starts empty: blocks of another zone are unknown. */
  #startEmpty(zoneID: string): void {
    this.#zoneID = zoneID;
    this.#revision = 0;
    this.#blocks.clear();
    this.#unreported.clear();
    this.#nginx.begin();
    this.#kernel.needsAll();
    this.connected();
  }

  async #turnOff(): Promise<void> {
    if (this.#isOff) return;
    this.#startEmpty('');
    await this.#kernel.send(this.#blocks);
    // An nginx that is still starting holds no blocks, or clears them when the set is enabled again.
    await this.#nginx.end().catch(() => undefined);
    await rm(this.#deps.file, { force: true });
    this.#isWritten = true;
    this.#isOff = true;
  }

  async #load(): Promise<void> {
    const stored = await readBlocks(this.#deps.file).catch(() => null);
    if (stored === null) return;
    this.#zoneID = stored.zoneID;
    this.#revision = stored.revision;
    this.#nginx.mark = stored.mark;
    this.#blocks = stored.blocks;
    this.#unreported = stored.unreported;
    this.#expire();
  }

  async #write(): Promise<void> {
    if (this.#isWritten || this.#isOff) return;
    try {
      await writeBlocks(this.#deps.file, {
        zoneID: this.#zoneID,
        revision: this.#revision,
        mark: this.#nginx.mark,
        blocks: this.#blocks,
        unreported: this.#unreported,
      });
    } catch (error) {
      // A full disk stops neither nginx nor the report to the control plane.
      this.#warn('the block set could not be written', error);
      return;
    }
    this.#isWritten = true;
    this.#nginx.written();
    this.#writtenAt = Date.now();
  }

  /** The kernel and nginx expire entries on their own. */
  #expire(): void {
    const now = Date.now();
    for (const [network, { until }] of this.#blocks) if (until <= now) this.#blocks.delete(network);
    for (const network of this.#unreported.keys()) if (!this.#blocks.has(network)) this.#unreported.delete(network);
    this.#expiredAt = now;
  }

  async #fetch(max: number): Promise<void> {
    const { found, sites = [], dropped } = await this.#nginx.fetch(Math.max(0, max - this.#zoneSize()));
    // Blocks that nginx found while no agent ran still count.
    this.#unreportedDrops += dropped;
    const allowed = this.#alwaysAllowed();
    const rejected: Change[] = [];
    const all = [
      ...found.map((block) => ({ ...block, key: block.network })),
      ...sites.map((block) => ({ ...block, key: keyOf(block.network, block.siteID) })),
    ];
    for (const { key, network, cause, seconds, siteID = null, rule } of all) {
      const until = Date.now() + seconds * 1000;
      if (allowed.has(network)) rejected.push(changeOf(key, 0, cause));
      else if (!this.#knows(key, until)) {
        this.#set(key, { until, cause });
        if (this.#unreported.size < MAX_UNREPORTED) this.#unreported.set(key, { siteID, rule });
        else this.#unreportedDrops += 1;
      }
    }
    if (this.#nginx.isComplete) {
      await this.#nginx.send(rejected);
      return;
    }
    // Once this is on disk, nginx may delete what it reported.
    await this.#write();
    await this.#nginx.complete(this.#blocks);
  }

  /** Blocks of sites have their own limits, in nginx and at the control plane. */
  #zoneSize(): number {
    let size = 0;
    for (const key of this.#blocks.keys()) if (!isOfSite(key)) size += 1;
    return size;
  }

  #knows(key: string, until: number): boolean {
    const known = this.#blocks.get(key);
    return known !== undefined && Math.abs(known.until - until) <= TIME_TOLERANCE_MS;
  }

  #set(key: string, block: StoredBlock): void {
    this.#blocks.set(key, block);
    this.#kernel.set(key, block.until);
    this.#isWritten = false;
  }

  #remove(key: string): void {
    this.#blocks.delete(key);
    this.#unreported.delete(key);
    this.#kernel.remove(key);
    this.#isWritten = false;
  }

  /** Applies the control plane's changes. */
  async #apply(received: readonly BlockChange[]): Promise<void> {
    const now = Date.now();
    const allowed = this.#alwaysAllowed();
    const changes: Change[] = [];
    for (const { network, cause, seconds, siteID } of received) {
      const key = keyOf(network, siteID);
      const until = now + seconds * 1000;
      if (seconds === 0 || allowed.has(network)) {
        // Unknown networks too: the file may be older than what nginx holds.
        this.#remove(key);
        changes.push(changeOf(key, 0, cause));
      } else if (!this.#knows(key, until)) {
        this.#set(key, { until, cause });
        changes.push(changeOf(key, seconds, cause));
      }
    }
    this.#isWritten = false;
    // An nginx that missed a change receives the whole set.
    await this.#nginx.send(changes).catch(() => this.#nginx.needsAll());
  }

  /** Runs in the background, so that a slow control plane delays nothing here. */
  #startExchange(): void {
    const line = this.#deps.line();
    if (line === null || this.#exchange !== null) return;
    const now = Date.now();
    const hasNews = this.#unreported.size > 0 || this.#unreportedDrops > 0 || this.#reportedRevision !== this.#revision;
    const isReport = now >= this.#reportAt && (hasNews || now >= this.#reportAt + REPORT_INTERVAL_MS);
    if (!isReport && now < this.#requestAt) return;
    this.#exchange = (async () => {
      try {
        if (isReport) await this.#report(line);
        if (Date.now() >= this.#requestAt) await this.#requestMissing(line);
      } catch (error) {
        this.#reportAt = Date.now() + RETRY_MS;
        this.#warn('the block set was not reported to the control plane', error);
      } finally {
        this.#exchange = null;
      }
    })();
  }

  async #report(line: BlockLine): Promise<void> {
    const now = Date.now();
    const reported = [...this.#unreported].slice(0, MAX_PER_REPORT);
    const all = reported.flatMap(([key, { siteID, rule }]) => {
      const { until, cause } = this.#blocks.get(key) ?? { until: 0, cause: '' };
      const seconds = Math.min(Math.ceil((until - now) / 1000), MAX_SECONDS);
      return until > now ? [{ key, network: partsOf(key).network, cause, seconds, siteID, rule }] : [];
    });
    const blocks = all.filter(({ key }) => !isOfSite(key)).map(({ key: _, ...block }) => block);
    const sites = all.flatMap(({ key, siteID, ...block }) =>
      isOfSite(key) && siteID !== null ? [{ ...block, siteID }] : [],
    );
    const dropped = this.#unreportedDrops;
    const revision = this.#revision;
    const reply = await line.reportBlocks({
      revision,
      size: this.#zoneSize(),
      blocks,
      sites,
      dropped,
      fault: this.#kernel.fault,
    });
    for (const [network, one] of reported) if (this.#unreported.get(network) === one) this.#unreported.delete(network);
    if (reported.length > 0) this.#isWritten = false;
    this.#unreportedDrops -= dropped;
    this.#reportedRevision = revision;
    this.#reportAt = Date.now();
    const refused: BlockChange[] = [
      ...reply.refused.map((network) => ({ network, cause: '', seconds: 0 })),
      ...(reply.refusedSites ?? []).map((block) => ({ ...block, cause: '', seconds: 0 })),
    ];
    if (refused.length > 0) this.#enqueue(() => this.#apply(refused).then(() => this.#kernel.send(this.#blocks)));
    if (reply.revision < this.#revision) this.#requestAt = 0;
    else if (reply.revision > this.#revision) this.#requestAt = Math.min(this.#requestAt, Date.now() + PUSH_GRACE_MS);
  }

  /** Requests missing entries. A push that arrives out of order is requested again. */
  async #requestMissing(line: BlockLine): Promise<void> {
    this.#requestAt = Number.POSITIVE_INFINITY;
    const zoneID = this.#zoneID;
    let revision = this.#revision;
    let isWhole = false;
    let changes: BlockChange[] = [];
    for (;;) {
      const page = await line.blocksSince(revision).catch((error: unknown) => {
        this.#requestAt = Date.now() + RETRY_MS;
        throw error;
      });
      if (page.whole) {
        isWhole = true;
        changes = [];
      }
      changes.push(...page.blocks, ...(page.sites ?? []));
      revision = page.revision;
      if (!page.more) break;
    }
    this.#enqueue(async () => {
      if (this.#isOff || this.#zoneID !== zoneID) return;
      if (isWhole) {
        const listed = new Set(changes.map(({ network, siteID }) => keyOf(network, siteID)));
        for (const key of this.#blocks.keys()) if (!listed.has(key) && !this.#unreported.has(key)) this.#remove(key);
        this.#kernel.needsAll();
        this.#nginx.needsAll();
      }
      await this.#apply(changes);
      // A push may have been faster. A lower revision counts after a restore from backup.
      if (isWhole || revision > this.#revision) this.#revision = revision;
      await this.#kernel.send(this.#blocks);
    });
  }

  #alwaysAllowed(): Set<string> {
    return new Set(this.#deps.alwaysAllowed().flatMap((address) => networkOf(address) ?? []));
  }
}
