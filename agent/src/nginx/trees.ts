// Rendered nginx trees are in conf/<generation>. `current` is what nginx starts with and `good` what served last.
// Going back is a rename.
import { mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { flush, flushAll } from '../store/durable.ts';

export type Tree = ReadonlyMap<string, string>;
type Mark = 'current' | 'good';

/** Old trees kept for inspection. */
const KEEP = 3;

export class Trees {
  readonly #dir: string;
  #newest = 0;

  constructor(dir: string) {
    this.#dir = dir;
  }

  confFile(name: number | string): string {
    return path.join(this.#dir, String(name), 'nginx.conf');
  }

  async marked(mark: Mark): Promise<number | null> {
    const target = await readlink(path.join(this.#dir, mark)).catch(() => null);
    return target !== null && /^\d+$/.test(target) ? Number(target) : null;
  }

  async mark(mark: Mark, generation: number): Promise<void> {
    const fresh = path.join(this.#dir, `${mark}.new`);
    await rm(fresh, { force: true });
    await symlink(String(generation), fresh);
    await rename(fresh, path.join(this.#dir, mark));
    await flush(this.#dir);
  }

  async unmark(mark: Mark): Promise<void> {
    await rm(path.join(this.#dir, mark), { force: true });
  }

  /** A number that was never used. */
  async next(): Promise<number> {
    this.#newest = Math.max(this.#newest, ...(await this.#generations())) + 1;
    return this.#newest;
  }

  /** Complete once it has its name. */
  async stage(name: number | string, tree: Tree): Promise<void> {
    const fresh = path.join(this.#dir, `${name}.new`);
    await rm(fresh, { recursive: true, force: true });
    const files = [...tree].map(([file, content]) => ({ file: path.join(fresh, file), content }));
    for (const { file, content } of files) {
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, content, { mode: 0o640 });
    }
    await flushAll([...files.map(({ file }) => file), fresh]);
    await rename(fresh, path.join(this.#dir, String(name)));
    await flush(this.#dir);
  }

  /** Empty when the tree was deleted. */
  async read(generation: number): Promise<Tree> {
    const root = path.join(this.#dir, String(generation));
    const names = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
    const files = names.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
    const read = await Promise.all(
      files.map(async (file) => [path.relative(root, file), await readFile(file, 'utf8')] as const),
    );
    return new Map(read);
  }

  async discard(generation: number): Promise<void> {
    await rm(path.join(this.#dir, String(generation)), { recursive: true, force: true });
  }

  async prune(): Promise<void> {
    const [current, good] = await Promise.all([this.marked('current'), this.marked('good')]);
    const old = (await this.#generations()).sort((a, b) => b - a).slice(KEEP);
    for (const generation of old) if (generation !== current && generation !== good) await this.discard(generation);
    for (const name of await readdir(this.#dir)) {
      if (/^\d+\.new$/.test(name)) await rm(path.join(this.#dir, name), { recursive: true, force: true });
    }
  }

  async #generations(): Promise<number[]> {
    return (await readdir(this.#dir)).filter((name) => /^\d+$/.test(name)).map(Number);
  }
}

export const isSameTree = (one: Tree, other: Tree) =>
  one.size === other.size && [...one].every(([name, content]) => other.get(name) === content);
