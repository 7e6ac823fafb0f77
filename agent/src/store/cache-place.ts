// Where nginx's store lies: in the node's directory, or in a folder that its operator names. nginx knows it by one path, a
// link: what it points to is exchanged in an instant, and what was stored elsewhere is missed and fetched anew. Nobody writes
// to a place that was left, so it is emptied at leisure.
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
import { impassable } from '../layout.ts';
import type { Layout, Workers } from '../layout.ts';
import { reason } from '../log.ts';
import type { Log } from '../log.ts';
import { writeWhole } from './durable.ts';

interface Parts {
  layout: Layout;
  workers: Workers | null;
  log: Log;
}

/** Of the system, or emptied by it. */
const CLOSED = [
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
const CLOSED_IN_VAR = ['lib', 'lock', 'log', 'mail', 'run', 'spool', 'tmp', 'www'].map((name) => `/var/${name}`);
/** Less is no place for a store. */
const LEAST_FREE_MB = 256;
/** In a folder that is named: so it is plain whose it is, and a whole disk may be named. */
const NAME = 'edgeloom-store';

export class CachePlace {
  readonly #parts: Parts;
  readonly #link: string;
  readonly #own: string;
  /** Places that were left, and are not empty yet. */
  readonly #leaving: string;
  #work: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#link = path.join(parts.layout.cache, 'objects');
    this.#own = path.join(parts.layout.cache, 'own');
    this.#leaving = path.join(parts.layout.cache, 'leaving');
  }

  /** Before nginx is started, which would not without it: a disk may be gone. */
  async ensure(): Promise<void> {
    const now = await this.#target();
    if (now !== null && (await mkdirAll(now).then(isMade, isNot))) return;
    if (now !== null)
      this.#parts.log.error('the place of the store is gone, its own folder takes over', { place: now });
    await this.#make(this.#own);
    await this.#lead(this.#own);
  }

  /** Throws why it cannot be there; then nothing has changed. Answers the way back, for when nginx does not follow. */
  async enter(named: string | undefined): Promise<() => Promise<void>> {
    const before = (await this.#target()) ?? this.#own;
    const wanted = named === undefined ? this.#own : path.join(named, NAME);
    if (wanted === before) return () => Promise.resolve();
    if (named !== undefined) await this.#judge(named, wanted);
    await this.#make(wanted).catch(async (error: unknown) => {
      await rmdir(wanted).catch(() => undefined);
      throw error;
    });
    // Both: nginx may not follow.
    await this.#note([...(await this.#left()), before, wanted]);
    await this.#lead(wanted);
    return () => this.#lead(before);
  }

  /** Empties what was left, now or after a restart in between. */
  settle(): void {
    this.#work = this.#work
      .then(() => this.#empty())
      .catch((error: unknown) => {
        this.#parts.log.warn('a place that the store left was not emptied', { error });
      });
  }

  async stop(): Promise<void> {
    await this.#work;
  }

  async #judge(named: string, wanted: string): Promise<void> {
    const real = await realOf(wanted);
    const { dir } = this.#parts.layout;
    if (isWithin(real, dir) || isWithin(dir, real)) throw new Error(`${named} lies in the node's own directory`);
    if ([...CLOSED, ...CLOSED_IN_VAR].some((closed) => isWithin(real, closed)))
      throw new Error(`${named} belongs to the system: choose a folder such as /data/cache`);
  }

  async #make(place: string): Promise<void> {
    const { workers, layout } = this.#parts;
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
    if (!isWithin(place, layout.dir) && free < LEAST_FREE_MB)
      throw new Error(`${place} has ${free} MB free, ${LEAST_FREE_MB} MB are needed`);
    if (workers === null) return;
    await chown(place, workers.uid, workers.gid);
    await chmod(place, 0o700);
    const closed = await impassable(place, workers);
    if (closed !== null) throw new Error(`nginx's workers run as ${workers.user}, which may not enter ${closed}`);
  }

  /** Null where nothing leads anywhere yet. A folder that an earlier agent left there becomes its own. */
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
      if (place === now || (place !== this.#own && path.basename(place) !== NAME)) continue;
      await rm(place, { recursive: true, force: true }).catch(() => stays.push(place));
    }
    await this.#note(stays);
  }
}

const isMade = () => true;
const isNot = () => false;
const isWithin = (inner: string, outer: string) => inner === outer || inner.startsWith(`${outer}/`);

/** What is made on the way lets workers through, whatever the umask. */
async function mkdirAll(folder: string): Promise<void> {
  if (await stat(folder).then(isMade, isNot)) return;
  await mkdirAll(path.dirname(folder));
  await mkdir(folder);
  await chmod(folder, 0o711);
}

/** Where it would lie, links followed as far as there is anything. */
async function realOf(folder: string): Promise<string> {
  const real = await realpath(folder).catch(() => null);
  return real ?? path.join(await realOf(path.dirname(folder)), path.basename(folder));
}
