// The document directory is the node's database. Lua reads the files; the manifest lists them.
// ⏎ A commit writes new files aside, flushes them, renames them into place, flushes the folders, then appends to the
// manifest. A kill in between leaves intact files, some newer than the manifest. The revision is then still the old
// one,
// so the next sync sends the same changes and the commit repeats.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DigestBuilder, sha256, toggle } from '@edgeloom/contract/edge/digest.ts';
import { DocKey } from '@edgeloom/contract/edge/documents.ts';
import { concurrentMap } from '../concurrent-map.ts';
import { flushAll } from './durable.ts';
import { decodeDocFile, docPath, encodeDocFile } from './files.ts';
import { emptyInventory, Manifest } from './manifest.ts';
import type { Inventory, Known } from './manifest.ts';

export interface Change extends Known {
  key: string;
  /** Null: the document is removed. */
  body: string | null;
}

/** Keeps the thread pool busy without a thousand open files. */
const AT_ONCE = 32;

export class DocumentStore {
  readonly dir: string;
  readonly #manifest: Manifest;
  #inventory: Inventory;
  readonly #folders = new Set<string>();
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(dir: string, manifest: Manifest, inventory: Inventory) {
    this.dir = dir;
    this.#manifest = manifest;
    this.#inventory = inventory;
  }

  static async open(dir: string): Promise<DocumentStore> {
    await mkdir(dir, { recursive: true });
    await rm(path.join(dir, '.tmp'), { recursive: true, force: true });
    await mkdir(path.join(dir, '.tmp'));
    const manifest = new Manifest(path.join(dir, 'manifest'));
    const known = await manifest.load();
    if (known !== null) return new DocumentStore(dir, manifest, known);
    // Files matter more than the manifest: they keep serving, and revision 0 requests everything again.
    const found = await takeInventory(dir);
    await manifest.rewrite(found);
    return new DocumentStore(dir, manifest, found);
  }

  get revision(): number {
    return this.#inventory.revision;
  }

  get digest(): string {
    return this.#inventory.digest;
  }

  get size(): number {
    return this.#inventory.docs.size;
  }

  get(key: string): Known | undefined {
    return this.#inventory.docs.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#inventory.docs.keys();
  }

  /** Null when there is none. Throws when the file is damaged. */
  async read(key: string): Promise<string | null> {
    if (!this.#inventory.docs.has(key)) return null;
    return decodeDocFile(await readFile(path.join(this.dir, docPath(key)))).body;
  }

  /** Applies the changes durably, in the given order of keys, and reaches `revision`. */
  commit(changes: readonly Change[], revision: number): Promise<void> {
    return this.exclusive(async () => {
      const written = changes.filter((change) => change.body !== null);
      const gone = changes.filter((change) => change.body === null);
      const aside = (i: number) => path.join(this.dir, '.tmp', String(i));

      await concurrentMap(written, AT_ONCE, ({ revision, body }, i) =>
        writeFile(aside(i), encodeDocFile(revision, body ?? ''), { mode: 0o640 }),
      );
      await flushAll(written.map((_, i) => aside(i)));

      const place = ({ key }: Change) => path.join(this.dir, docPath(key));
      const folders = new Set(changes.map((change) => path.dirname(place(change))));
      await this.#makeFolders(folders);
      await concurrentMap(written, AT_ONCE, (change, i) => rename(aside(i), place(change)));
      await concurrentMap(gone, AT_ONCE, (change) => rm(place(change), { force: true }));
      await flushAll([...folders]);

      const noted = changes.map(
        ({ key, revision, sha256, body }) => [key, body === null ? null : { revision, sha256 }] as const,
      );
      await this.#note(new Map(noted), revision);
    });
  }

  /**
   * Drops documents whose files are damaged. The revision goes back below the oldest of them, so the next sync sends
   * them
   * again even after a kill. The files stay: nginx rejects damaged files and may still serve a copy from memory.
   */
  drop(keys: readonly string[]): Promise<void> {
    return this.exclusive(() => {
      const revisions = keys.map((key) => Math.max(0, (this.get(key)?.revision ?? this.revision) - 1));
      const changes = new Map(keys.map((key) => [key, null] as const));
      return this.#note(changes, Math.min(this.revision, ...revisions));
    });
  }

  /** No other task changes files or the manifest during this one. */
  exclusive<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(task);
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {
    await this.#queue;
    await this.#manifest.close();
  }

  async #makeFolders(folders: Iterable<string>): Promise<void> {
    const fresh = [...folders].filter((folder) => !this.#folders.has(folder));
    await concurrentMap(fresh, AT_ONCE, (folder) => mkdir(folder, { recursive: true }));
    const parents = new Set(fresh.map((folder) => path.dirname(folder)));
    await flushAll([...parents].filter((parent) => parent.startsWith(this.dir)));
    for (const folder of fresh) this.#folders.add(folder);
  }

  async #note(changes: ReadonlyMap<string, Known | null>, revision: number): Promise<void> {
    const { docs } = this.#inventory;
    const before = new Map(Array.from(changes.keys(), (key) => [key, docs.get(key) ?? null] as const));
    let digest = this.#inventory.digest;
    for (const [key, known] of changes) {
      const old = before.get(key) ?? null;
      if (old !== null) digest = toggle(digest, key, old.sha256);
      if (known !== null) digest = toggle(digest, key, known.sha256);
    }
    put(docs, changes);
    const inventory = { docs, revision, digest };
    try {
      await this.#manifest.append(changes, inventory);
      this.#inventory = inventory;
    } catch (error) {
      // On a full disk: a change that the manifest lacks did not happen.
      put(docs, before);
      throw error;
    }
  }
}

function put(docs: Map<string, Known>, changes: ReadonlyMap<string, Known | null>): void {
  for (const [key, known] of changes) {
    if (known === null) docs.delete(key);
    else docs.set(key, known);
  }
}

export function digestOf(docs: ReadonlyMap<string, Known>): string {
  const digest = new DigestBuilder();
  for (const [key, known] of docs) digest.toggle(key, known.sha256);
  return digest.toString();
}

/** Rebuilds the inventory from intact files and the names in them. */
async function takeInventory(dir: string): Promise<Inventory> {
  const docs = new Map<string, Known>();
  await concurrentMap(await documentFiles(dir), AT_ONCE, async ({ key, file }) => {
    try {
      const { revision, body } = decodeDocFile(await readFile(file));
      docs.set(key, { revision, sha256: sha256(body) });
    } catch {
      // Not trusted. The next sync restores or removes it.
    }
  });
  return { ...emptyInventory(), docs, digest: digestOf(docs) };
}

/** All files in document places, without those of `known` keys. */
export async function documentFiles(
  dir: string,
  known: (key: string) => boolean = () => false,
): Promise<{ key: string; file: string }[]> {
  const found: { key: string; file: string }[] = [];
  for (const kind of await readdir(dir, { withFileTypes: true })) {
    if (kind.isFile()) found.push({ key: kind.name, file: path.join(dir, kind.name) });
    if (!kind.isDirectory() || kind.name === '.tmp') continue;
    for (const spread of await readdir(path.join(dir, kind.name), { withFileTypes: true })) {
      if (!spread.isDirectory()) continue;
      const folder = path.join(dir, kind.name, spread.name);
      for (const name of await readdir(folder)) {
        const key = `${kind.name}/${name}`;
        if (!known(key)) found.push({ key, file: path.join(folder, name) });
      }
    }
  }
  return found.filter(
    ({ key, file }) => !known(key) && DocKey.safeParse(key).success && path.join(dir, docPath(key)) === file,
  );
}
