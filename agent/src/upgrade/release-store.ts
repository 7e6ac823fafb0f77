// The releases of one product on disk, and a link to the one in use. A release is a folder named by its archive's hash.
// `release.json`, what was signed, is written last. `ran` marks releases that have been in use and can be rolled back
// to.
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { ReleaseManifest, SignedRelease } from '@edgeloom/contract/edge/releases.ts';
import { flush, flushAll } from '../store/durable.ts';
import { unpack } from './unpack.ts';

/** Stored besides the release in use. */
const MAX_FORMER_RELEASES = 2;

export class ReleaseStore {
  readonly #dir: string;
  readonly #link: string;

  /** `link` points to the release in use. It is in the folder or directly above. */
  constructor(dir: string, link: string) {
    this.#dir = dir;
    this.#link = link;
  }

  path(name: string, ...inside: string[]): string {
    return path.join(this.#dir, name, ...inside);
  }

  /** The partial download of a release's archive. */
  partOf(name: string): string {
    return path.join(this.#dir, `${name}.part`);
  }

  async current(): Promise<string | null> {
    const target = await readlink(this.#link).catch(() => null);
    return target === null ? null : path.basename(target);
  }

  /** Null where the release is incomplete. */
  async manifestOf(name: string): Promise<ReleaseManifest | null> {
    const signed = await this.signed(name);
    return signed === null ? null : ReleaseManifest.parse(JSON.parse(signed.manifest));
  }

  /** The signed form of the manifest. */
  async signed(name: string): Promise<SignedRelease | null> {
    const text = await readFile(this.path(name, 'release.json'), 'utf8').catch(() => null);
    return text === null ? null : SignedRelease.parse(JSON.parse(text));
  }

  /** Stored releases that have been in use. */
  async ran(): Promise<string[]> {
    const ran: string[] = [];
    for (const name of await readdir(this.#dir).catch(() => []))
      if (this.path(name) !== this.#link && (await this.hasRun(name))) ran.push(name);
    return ran;
  }

  async hasRun(name: string): Promise<boolean> {
    const [ran, manifest] = await Promise.all([stat(this.path(name, 'ran')).catch(() => null), this.manifestOf(name)]);
    return ran !== null && manifest !== null;
  }

  /** From an archive that was verified. */
  async put(name: string, archive: string, signed: SignedRelease): Promise<void> {
    const fresh = this.path(`${name}.new`);
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { recursive: true });
    try {
      // nginx's workers read some products.
      await chmod(this.#dir, 0o755);
      const files = await unpack(archive, fresh);
      for (const ours of ['ran', 'release.json']) await rm(path.join(fresh, ours), { recursive: true, force: true });
      await writeFile(path.join(fresh, 'release.json'), `${JSON.stringify(signed)}\n`);
      await flushAll([...files.map((file) => path.join(fresh, file)), path.join(fresh, 'release.json'), fresh]);
      await rm(this.path(name), { recursive: true, force: true });
      await rename(fresh, this.path(name));
      await flush(this.#dir);
    } catch (error) {
      await rm(fresh, { recursive: true, force: true });
      throw error;
    }
  }

  /** Atomic. Null: no release. */
  async point(name: string | null): Promise<void> {
    if (name === null) await rm(this.#link, { force: true });
    else {
      const fresh = `${this.#link}.new`;
      await rm(fresh, { force: true });
      await symlink(path.relative(path.dirname(this.#link), this.path(name)), fresh);
      await rename(fresh, this.#link);
    }
    await flush(path.dirname(this.#link));
  }

  /** Marks the release as used, now. */
  async markUsed(name: string): Promise<void> {
    const mark = this.path(name, 'ran');
    await writeFile(mark, '');
    const now = new Date();
    await utimes(mark, now, now);
    await flush(mark);
  }

  /** Deletes releases that no rollback needs. */
  async prune(): Promise<void> {
    const current = await this.current();
    const ran: { name: string; at: number }[] = [];
    for (const name of await readdir(this.#dir)) {
      if (name === current || path.join(this.#dir, name) === this.#link) continue;
      const mark = await stat(this.path(name, 'ran')).catch(() => null);
      if (mark === null) await rm(this.path(name), { recursive: true, force: true });
      else ran.push({ name, at: mark.mtimeMs });
    }
    const old = ran.sort((one, other) => other.at - one.at).slice(MAX_FORMER_RELEASES);
    for (const { name } of old) await rm(this.path(name), { recursive: true, force: true });
  }

  async remove(name: string): Promise<void> {
    await rm(this.path(name), { recursive: true, force: true });
    await flush(this.#dir);
  }

  /** A release that failed is downloaded again when needed. */
  async discard(name: string): Promise<void> {
    if (await this.hasRun(name)) return;
    await rm(this.path(name), { recursive: true, force: true });
  }
}

export const packStore = (dir: string, product: string): ReleaseStore =>
  new ReleaseStore(path.join(dir, 'packs', product), path.join(dir, 'packs', product, 'current'));
