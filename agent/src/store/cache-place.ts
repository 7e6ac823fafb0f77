// Where nginx's cache is: in the node's directory or in a folder that the operator names. nginx uses one link whose
// target is swapped atomically. Former places are no longer written to and are emptied in the background.
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  statfs,
  symlink,
} from 'node:fs/promises';
import path from 'node:path';
import { findImpassableFolder } from '../layout.ts';
import type { Layout, Workers } from '../layout.ts';
import { reason } from '../log.ts';
import type { Log } from '../log.ts';
import { writeWhole } from './durable.ts';

interface Deps {
  layout: Layout;
  workers: Workers | null;
  log: Log;
}

/** Folders of the system, or emptied by it. */
const SYSTEM_FOLDERS = [
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/lib',
  '/lib32',
  '/lib64',
  '/proc',
  '/root',
  '/run',
  '/sbin',
  '/sys',
  '/tmp',
  '/usr',
];
const SYSTEM_FOLDERS_IN_VAR = ['lib', 'lock', 'log', 'mail', 'run', 'spool', 'tmp', 'www'].map(
  (name) => `/var/${name}`,
);
/** Less free space is refused. */
const MIN_FREE_MB = 256;
/** A subfolder of the named folder, which may be a whole disk. */
const SUBFOLDER = 'edgeloom-store';

export class CachePlace {
  readonly #deps: Deps;
  readonly #link: string;
  readonly #own: string;
  /** The former places that are not empty yet. */
  readonly #leaving: string;
  #work: Promise<void> = Promise.resolve();

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#link = path.join(deps.layout.cache, 'objects');
    this.#own = path.join(deps.layout.cache, 'own');
    this.#leaving = path.join(deps.layout.cache, 'leaving');
  }

  /** Runs before nginx starts, which fails without the folder: a disk may be gone. */
  async ensure(): Promise<void> {
    const now = await this.#target();
    if (now !== null && (await mkdirAll(now).then(isMade, isNot))) return;
    if (now !== null) this.#deps.log.error('the cache folder is gone, the default folder is used', { place: now });
    await this.#make(this.#own);
    await this.#lead(this.#own);
  }

  /** Throws why the folder cannot be used. Then nothing has changed. Returns the way back in case nginx fails. */
  async enter(named: string | undefined): Promise<() => Promise<void>> {
    const before = (await this.#target()) ?? this.#own;
    const wanted = named === undefined ? this.#own : path.join(named, SUBFOLDER);
    if (wanted === before) return () => Promise.resolve();
    if (named !== undefined) await this.#judge(named, wanted);
    await this.#make(wanted).catch(async (error: unknown) => {
      await rmdir(wanted).catch(() => undefined);
      throw error;
    });
    // Both places, since nginx may fail to follow.
    await this.#note([...(await this.#left()), before, wanted]);
    await this.#lead(wanted);
    return () => this.#lead(before);
  }

  /** Empties former places, also after a restart. */
  settle(): void {
    this.#work = this.#work
      .then(() => this.#empty())
      .catch((error: unknown) => {
        this.#deps.log.warn('a former cache folder could not be emptied', { error });
      });
  }

  async stop(): Promise<void> {
    await this.#work;
  }

  async #judge(named: string, wanted: string): Promise<void> {
    const real = await realOf(wanted);
    const { dir } = this.#deps.layout;
    if (isWithin(real, dir) || isWithin(dir, real)) throw new Error(`${named} lies in the node's own directory`);
    if ([...SYSTEM_FOLDERS, ...SYSTEM_FOLDERS_IN_VAR].some((closed) => isWithin(real, closed)))
      throw new Error(`${named} is a system folder: choose a folder such as /data/cache`);
  }

  async #make(place: string): Promise<void> {
    const { workers, layout } = this.#deps;
    try {
      await mkdirAll(place);
      const probe = path.join(place, '.probe');
      await writeWhole(probe, '', 0o600);
      await rm(probe);
    } catch (error) {
      throw new Error(`${place} cannot be written: ${reason(error)}. The agent's unit must allow it (ReadWritePaths)`, {
        cause: error,
      });
    }
    const { bavail, bsize } = await statfs(place);
    const free = Math.floor((bavail * bsize) / 1e6);
    if (!isWithin(place, layout.dir) && free < MIN_FREE_MB)
      throw new Error(`${place} has ${free} MB free, ${MIN_FREE_MB} MB are needed`);
    if (workers === null) return;
    await chown(place, workers.uid, workers.gid);
    await chmod(place, 0o700);
    const closed = await findImpassableFolder(place, workers);
    if (closed !== null) throw new Error(`nginx's workers run as ${workers.user}, which may not enter ${closed}`);
  }

  /** Null where the link does not exist. A folder of an earlier agent counts as its own target. */
  async #target(): Promise<string | null> {
    const found = await lstat(this.#link).catch(() => null);
    if (found === null) return null;
    if (found.isSymbolicLink()) return readlink(this.#link);
    await rename(this.#link, this.#own);
    await this.#lead(this.#own);
    return this.#own;
  }

  async #lead(place: string): Promise<void> {
    const fresh = `${this.#link}.new`;
    await rm(fresh, { force: true });
    await symlink(place, fresh);
    await rename(fresh, this.#link);
  }

  async #left(): Promise<string[]> {
    const text = await readFile(this.#leaving, 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '');
  }

  #note(places: readonly string[]): Promise<void> {
    return writeWhole(this.#leaving, [...new Set(places)].map((place) => `${place}\n`).join(''), 0o600);
  }

  async #empty(): Promise<void> {
    const left = await this.#left();
    if (left.length === 0) return;
    const now = await this.#target();
    const stays: string[] = [];
    for (const place of left) {
      if (place === now || (place !== this.#own && path.basename(place) !== SUBFOLDER)) continue;
      await rm(place, { recursive: true, force: true }).catch(() => stays.push(place));
    }
    await this.#note(stays);
  }
}

const isMade = () => true;
const isNot = () => false;
const isWithin = (inner: string, outer: string) => inner === outer || inner.startsWith(`${outer}/`);

/** New folders are passable for workers, whatever the umask. */
async function mkdirAll(folder: string): Promise<void> {
  if (await stat(folder).then(isMade, isNot)) return;
  await mkdirAll(path.dirname(folder));
  await mkdir(folder);
  await chmod(folder, 0o711);
}

/** The real path, with links resolved as far as folders exist. */
async function realOf(folder: string): Promise<string> {
  const real = await realpath(folder).catch(() => null);
  return real ?? path.join(await realOf(path.dirname(folder)), path.basename(folder));
}
