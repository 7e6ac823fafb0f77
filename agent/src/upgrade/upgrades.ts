// Upgrade orders: stored, carried out once, and resumed by the next agent after a kill.
// The switch is one link in the end. The former release stays beside it.
import { execFile } from 'node:child_process';
import { readFile, readdir, rm, statfs, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { byAge, releaseName, UpgradeCommand } from '@edgeloom/contract/edge/releases.ts';
import type {
  ReleaseManifest,
  ReleaseProduct,
  RemovePackCommand,
  UpgradeState,
} from '@edgeloom/contract/edge/releases.ts';
import { readPublicKeys, readSigned } from '@edgeloom/contract/edge/signatures.ts';
import { readWafPack, WAF_FILE } from '@edgeloom/contract/edge/waf-pack.ts';
import * as z from 'zod';
import { reason } from '../log.ts';
import type { Log } from '../log.ts';
import { writeWhole } from '../store/durable.ts';
import { fetchArchive } from './fetch.ts';
import type { Health } from './health.ts';
import type { Home } from './home.ts';
import { assertUsable } from './pack-check.ts';
import type { Reports } from './reports.ts';
import { packStore } from './release-store.ts';
import type { ReleaseStore } from './release-store.ts';

const run = promisify(execFile);

interface Deps {
  /** Null where no launcher started this agent. */
  home: Home | null;
  /** The node's directory. */
  dir: string;
  keysFile: string;
  control: string | undefined;
  health: () => Health;
  /** Makes nginx use the current packs. Throws when it cannot read that of the product. */
  usePacks: (product: ReleaseProduct) => Promise<void>;
  /** The version of the firewall's rules that nginx uses. Null while nginx does not run. */
  wafVersion: () => Promise<string | null>;
  /** `has` changed. */
  changed: () => void;
  /** Ends this agent, so that its launcher starts the release on trial. */
  restart: () => void;
  reports: Reports;
  log: Log;
}

const Order = UpgradeCommand.omit({ id: true, deadline: true })
  .partial({ control: true, token: true })
  .extend({
    /** How many agents have tried it. */
    tries: z.int(),
    /** The former pack. Absent until the pack is switched. */
    packBefore: z.string().nullable().optional(),
    /** The pack is removed without a replacement. */
    removes: z.literal(true).optional(),
  });
type Order = z.output<typeof Order>;

const TRIES = 4;
/** A release unpacks to about three times its size. */
const ROOM_FACTOR = 4;
const ROOM_BESIDE = 32 * 1024 * 1024;
const CHECK_MS = 180_000;

export class Upgrades {
  readonly #deps: Deps;
  readonly #stopping = new AbortController();
  #order: Order | null = null;
  #working: Promise<void> = Promise.resolve();
  /** The control plane may know the outcome of an order before this has forgotten it. */
  #ending: Promise<void> = Promise.resolve();
  /** For heartbeats. */
  has: { release: string | null; packs: Record<string, string> } = { release: null, packs: {} };

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Resumes an order that an earlier agent did not finish. */
  async resume(): Promise<void> {
    await this.#look();
    const { home } = this.#deps;
    const text = await readFile(this.#orderFile, 'utf8').catch(() => null);
    const read = text === null ? null : Order.safeParse(parsed(text));
    const order = read?.success ? read.data : null;
    this.#order = order;
    const failure = (await home?.failure()) ?? null;
    if (home !== null && failure !== null) {
      if (order !== null && releaseName(manifestOf(order).sha256) === failure.name)
        await this.#end(order, 'rolledBack', failure.why);
      await home.releases.discard(failure.name);
      return home.forgetFailure();
    }
    const trial = (await home?.onTrial()) ?? null;
    if (home !== null && trial !== null) {
      // The release serves, and was killed before it could report that.
      if (trial === home.own && trial === (await home.releases.current())) return this.confirm(home);
      // This release is on trial and completes the order itself.
      if (trial === home.own) return;
      await home.endTrial();
    }
    if (order !== null) this.#begin({ ...order, tries: order.tries + 1 });
  }

  /** Throws why the order is refused. */
  async accept(command: UpgradeCommand): Promise<void> {
    if (await this.#isKnown(command.upgradeID)) return;
    const manifest = readSigned(command.release, await this.#keys());
    const releaseStore = this.#storeOf(manifest);
    const name = releaseName(manifest.sha256);
    const current = await releaseStore.current();
    const order: Order = { ...Order.omit({ tries: true }).parse(command), tries: 1 };
    if (current === name) return this.#report(order, 'complete', 'already in use');
    const used = current === null ? null : await releaseStore.manifestOf(current);
    if (used !== null && byAge(manifest, used) > 0) {
      if (command.rollback !== true)
        throw new Error(`${nameOf(manifest)} is older than ${used.version}, which is in use`);
      if (!(await releaseStore.hasRun(name)))
        throw new Error(
          `${nameOf(manifest)} is older than ${used.version}, and not one that this node has used and kept`,
        );
    }
    // A concurrent order was accepted first.
    if (this.#order !== null) return this.accept(command);
    this.#order = order;
    await this.#note(order);
    this.#begin(order);
  }

  /** Removes the pack. Throws why it stays. */
  async remove(command: Pick<RemovePackCommand, 'upgradeID' | 'product'>): Promise<void> {
    const { upgradeID, product } = command;
    if (await this.#isKnown(upgradeID)) return;
    const releaseStore = packStore(this.#deps.dir, product);
    const current = await releaseStore.current();
    const release = current === null ? null : await releaseStore.signed(current);
    if (release === null) throw new Error(`there is no ${product} pack`);
    if ((await releaseStore.ran()).length > 1) throw new Error(`the node had another ${product} pack before`);
    // A concurrent order was accepted first.
    if (this.#order !== null) return this.remove(command);
    const order: Order = { upgradeID, release, tries: 1, removes: true };
    this.#order = order;
    await this.#note(order);
    this.#begin(order);
  }

  /** Whether the order is under way and sent again, since its response was lost. Throws if another one is under way. */
  async #isKnown(upgradeID: string): Promise<boolean> {
    if (this.#order?.upgradeID === upgradeID) return true;
    await this.#ending;
    if (this.#order === null) return false;
    if (this.#order.upgradeID === upgradeID) return true;
    throw new Error(`${nameOf(manifestOf(this.#order))} is under way`);
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the agent ends'));
    await this.#working;
  }

  /** Makes the release on trial the one to start from now on. */
  async confirm(home: Home): Promise<void> {
    if (home.own === null) return;
    await home.releases.markUsed(home.own);
    await home.releases.point(home.own);
    await this.#end(this.#order, 'complete', '', () => home.endTrial());
    await home.releases.prune();
    await this.#look();
  }

  #begin(order: Order): void {
    this.#order = order;
    this.#working = this.#carryOut(order).catch(async (error: unknown) => {
      if (this.#stopping.signal.aborted) return;
      await this.#end(order, 'failed', reason(error)).catch(async (fault: unknown) => {
        this.#deps.log.error('the end of an upgrade could not be stored', { error: fault });
        await this.#forget().catch(() => undefined);
      });
    });
  }

  /** Reports the outcome, then forgets the order. Without an order it only tidies. */
  async #end(order: Order | null, state: UpgradeState, message: string, tidy?: () => Promise<void>): Promise<void> {
    let resolve = () => {};
    this.#ending = new Promise((done) => (resolve = done));
    try {
      if (order !== null) await this.#report(order, state, message);
      await tidy?.();
      await this.#forget();
    } finally {
      resolve();
    }
  }

  async #carryOut(order: Order): Promise<void> {
    if (order.tries > TRIES) throw new Error(`the agent ended ${TRIES} times during the upgrade`);
    await this.#note(order);
    const manifest = readSigned(order.release, await this.#keys());
    const releaseStore = this.#storeOf(manifest);
    const name = releaseName(manifest.sha256);
    if (order.removes) return this.#removePack(order, name, releaseStore);
    if ((await releaseStore.manifestOf(name))?.sha256 !== manifest.sha256) {
      await this.#report(order, 'fetching', '');
      await this.#fetch(order, manifest, releaseStore);
    }
    if (manifest.product === 'agent') await this.#takeAgent(order, name);
    else await this.#takePack(order, name, releaseStore);
  }

  async #fetch(order: Order, manifest: ReleaseManifest, store: ReleaseStore): Promise<void> {
    const name = releaseName(manifest.sha256);
    const part = store.partOf(name);
    await mkdir(path.dirname(part), { recursive: true });
    try {
      await assertRoom(path.dirname(part), manifest.bytes * ROOM_FACTOR + ROOM_BESIDE);
      const { control = order.control } = this.#deps;
      if (control === undefined || order.token === undefined)
        throw new Error('the order has no control plane or token');
      await fetchArchive(manifest, { control, token: order.token }, part, this.#stopping.signal);
      await store.put(name, part, order.release);
      await rm(part, { force: true });
    } catch (error) {
      // A later agent resumes a partial download.
      if (!this.#stopping.signal.aborted) await rm(part, { force: true });
      throw error;
    }
  }

  async #takeAgent(order: Order, name: string): Promise<void> {
    const { home, health, restart } = this.#deps;
    if (home === null) throw new Error(NO_LAUNCHER);
    const file = home.releases.path(name, 'agent.mjs');
    // A release that served here before needs no check, so that rollback is immediate.
    if (!(await home.releases.hasRun(name))) await this.#assertFits(file, order);
    await this.#report(order, 'switching', '');
    await home.try(name, { upgradeID: order.upgradeID, before: health() });
    restart();
  }

  /** Whether the release starts here and accepts the current documents. Nothing has been changed yet. */
  async #assertFits(file: string, order: Order): Promise<void> {
    const env = { ...process.env, EDGELOOM_TOKEN: '', EDGELOOM_TRIAL: '' };
    const options = { env, timeout: CHECK_MS, signal: this.#stopping.signal, maxBuffer: 1 << 22 };
    const ask = (program: string, ...args: string[]) => run(process.execPath, [program, ...args], options);
    const { version } = manifestOf(order);
    const fault = await ask(file, '--version').then(
      ({ stdout }) =>
        stdout.trim() === version ? null : `the archive contains version ${stdout.trim().slice(0, 100)}`,
      (error: unknown) => wordsOf(error),
    );
    if (fault !== null) throw new Error(`the release does not start: ${fault}`);
    const refused = await ask(file, 'check', '--running').then(() => null, wordsOf);
    if (refused === null) return;
    // Documents that the running release rejects too are not the new one's fault.
    const [own = ''] = process.argv.slice(1);
    const before = await ask(own, 'check', '--running').then(() => null, wordsOf);
    if (before === null) throw new Error(`the release rejects documents of this node: ${refused}`);
  }

  async #takePack(order: Order, name: string, store: ReleaseStore): Promise<void> {
    const { usePacks } = this.#deps;
    const { product } = manifestOf(order);
    await assertUsable(product, store.path(name)).catch(async (error: unknown) => {
      await store.discard(name);
      throw error;
    });
    const before = order.packBefore === undefined ? await store.current() : order.packBefore;
    await this.#note({ ...order, packBefore: before });
    await this.#report(order, 'switching', '');
    await store.point(name);
    let unused: string | null = null;
    try {
      await usePacks(product);
      unused = product === 'waf' ? await this.#unusedReason(store.path(name)) : null;
      // A rollback returns to what the node had, which its agent may have ignored then, too.
      if (unused !== null && order.rollback !== true) throw new Error(unused);
    } catch (error) {
      await store.point(before);
      await usePacks(product).catch((fault: unknown) => this.#deps.log.error('the rollback failed', { error: fault }));
      await this.#end(order, 'rolledBack', reason(error), () => store.discard(name));
      return this.#look();
    }
    await store.markUsed(name);
    await this.#end(order, 'complete', unused ?? '');
    await store.prune();
    await this.#look();
  }

  /** Why nginx ignores a readable WAF pack. Null when it uses the pack, or does not run. */
  async #unusedReason(dir: string): Promise<string | null> {
    const [used, { version }] = [await this.#deps.wafVersion(), readWafPack(await readFile(path.join(dir, WAF_FILE)))];
    if (used === null || used === version) return null;
    return `the waf pack has the rules ${version}, and this agent's own rules ${used} are newer`;
  }

  async #removePack(order: Order, name: string, store: ReleaseStore): Promise<void> {
    const { product } = manifestOf(order);
    await this.#report(order, 'switching', '');
    await store.point(null);
    try {
      await this.#deps.usePacks(product);
    } catch (error) {
      await store.point(name);
      await this.#deps
        .usePacks(product)
        .catch((fault: unknown) => this.#deps.log.error('it is not back', { error: fault }));
      throw error;
    }
    await store.remove(name);
    await this.#end(order, 'complete', '');
    await this.#look();
  }

  #storeOf({ product }: ReleaseManifest): ReleaseStore {
    if (product !== 'agent') return packStore(this.#deps.dir, product);
    if (this.#deps.home === null) throw new Error(NO_LAUNCHER);
    return this.#deps.home.releases;
  }

  async #keys() {
    const { keysFile } = this.#deps;
    const pem = await readFile(keysFile, 'utf8').catch(() => '');
    const keys = readPublicKeys(pem);
    if (keys.length === 0) throw new Error(`this node trusts nobody's releases: ${keysFile} holds no key`);
    return keys;
  }

  async #report(order: Order, state: UpgradeState, message: string): Promise<void> {
    const { product, version } = manifestOf(order);
    const at = new Date().toISOString();
    const { upgradeID } = order;
    await this.#deps.reports.add({ upgradeID, product, version, state, message: message.slice(0, 4000), at });
  }

  get #orderFile(): string {
    return path.join(this.#deps.dir, 'upgrade/order.json');
  }

  async #note(order: Order): Promise<void> {
    await writeWhole(this.#orderFile, `${JSON.stringify(order)}\n`, 0o600);
  }

  async #forget(): Promise<void> {
    this.#order = null;
    await rm(this.#orderFile, { force: true });
  }

  async #look(): Promise<void> {
    const { home, dir } = this.#deps;
    const own = home?.own == null ? null : await home.releases.manifestOf(home.own);
    const packs: Record<string, string> = {};
    for (const product of await readdir(path.join(dir, 'packs')).catch(() => [])) {
      const releaseStore = packStore(dir, product);
      const current = await releaseStore.current();
      const manifest = current === null ? null : await releaseStore.manifestOf(current);
      if (manifest !== null) packs[product] = manifest.version;
    }
    this.has = { release: own?.sha256 ?? null, packs };
    this.#deps.changed();
  }
}

const NO_LAUNCHER =
  'this agent was not started by its launcher, which a rollback needs. Reinstall the node, over SSH or with its command';

/** The manifest was validated when the order was accepted. */
const manifestOf = ({ release }: Order): ReleaseManifest => JSON.parse(release.manifest);
const nameOf = ({ product, version }: ReleaseManifest) => `${product} ${version}`;

async function assertRoom(dir: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(dir);
  const free = bavail * bsize;
  const inMB = (bytes: number) => Math.round(bytes / 1e6);
  if (free < needed) throw new Error(`${dir} has ${inMB(free)} MB free, ${inMB(needed)} MB are needed`);
}

/** The last lines of a program's output. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const outputs = ['stderr', 'stdout'].map((name) => String(Reflect.get(error, name) ?? '').trim());
  const words = outputs.filter((text) => text !== '').join('\n');
  return words === '' ? error.message : words.slice(-1500);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
