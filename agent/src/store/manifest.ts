// The journal of the document directory: which documents there are, how far the node has come, and the digest over all.
// Reading it is how a node with a hundred thousand documents starts within a second. Lines of a batch:
//
//   + <revision> <sha256> <key>        the document is there
//   - <key>                            it is gone
//   = <revision reached> <digest> <crc32 of the batch up to here>
//
// A batch counts only if its last line is complete and its digest matches all documents listed so far. Writes that a
// crash interrupted are ignored, and so are batches that follow lost ones.
import { open, readFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { DigestBuilder, EMPTY_DIGEST } from '@edgeloom/contract/edge/digest.ts';
import { writeWhole } from './durable.ts';

export interface Known {
  readonly revision: number;
  readonly sha256: string;
}

export interface Inventory {
  docs: Map<string, Known>;
  /** The zone's revision up to which every change is here. */
  revision: number;
  digest: string;
}

const firstLine = 'edgeloom-manifest 1\n';
/** Small manifests are not worth compacting. */
const COMPACT_ABOVE = 1024;

export const emptyInventory = (): Inventory => ({ docs: new Map(), revision: 0, digest: EMPTY_DIGEST });

export class Manifest {
  readonly #file: string;
  #handle: FileHandle | null = null;
  #lines = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Null when none is readable. Entries lost at its end only make the node older, and a sync restores them. */
  async load(): Promise<Inventory | null> {
    const bytes = await readFile(this.#file).catch(() => null);
    if (bytes === null) return null;
    const read = parseManifest(bytes);
    if (read === null) return null;
    this.#lines = read.lines;
    // Nothing may be appended after a damaged batch, since it would not be read.
    if (read.whole) this.#handle = await open(this.#file, 'a');
    else await this.rewrite(read.inventory);
    return read.inventory;
  }

  /** `inventory` is the state after the batch. */
  async append(changes: ReadonlyMap<string, Known | null>, inventory: Inventory): Promise<void> {
    this.#lines += changes.size + 1;
    if (this.#handle === null || this.#lines > 2 * inventory.docs.size + COMPACT_ABOVE) {
      await this.rewrite(inventory);
      return;
    }
    const lines = [...changes].map(([key, known]) => (known === null ? `- ${key}\n` : present(key, known)));
    try {
      await this.#handle.appendFile(sealed(lines.join(''), inventory));
      await this.#handle.datasync();
    } catch (error) {
      // Half a batch may be written, so the next one starts a new file.
      await this.close();
      throw error;
    }
  }

  async rewrite(inventory: Inventory): Promise<void> {
    await this.close();
    const lines = Array.from(inventory.docs, ([key, known]) => present(key, known));
    await writeWhole(this.#file, firstLine + sealed(lines.join(''), inventory), 0o600);
    this.#handle = await open(this.#file, 'a');
    this.#lines = inventory.docs.size + 1;
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
  }
}

const present = (key: string, { revision, sha256 }: Known) => `+ ${revision} ${sha256} ${key}\n`;

function sealed(lines: string, { revision, digest }: Inventory): string {
  const text = `${lines}= ${revision} ${digest} `;
  return `${text}${crc32(text).toString(16).padStart(8, '0')}\n`;
}

/** The longest sequence of valid batches from the start of the file. Null when there is none. */
export function parseManifest(bytes: Buffer): { inventory: Inventory; lines: number; whole: boolean } | null {
  // Keys and numbers are ASCII, so text offsets equal byte offsets.
  const text = bytes.toString('latin1');
  if (!text.startsWith(firstLine)) return null;
  const inventory = emptyInventory();
  const listed = new DigestBuilder();
  let lines = 0;
  let batchStart = firstLine.length;
  let batch: [key: string, known: Known | null][] = [];
  for (let at = batchStart; ;) {
    const end = text.indexOf('\n', at);
    if (end < 0) break;
    if (text[at] === '+') {
      const space = text.indexOf(' ', at + 2);
      const known = { revision: Number(text.slice(at + 2, space)), sha256: text.slice(space + 1, space + 65) };
      batch.push([text.slice(space + 66, end), known]);
    } else if (text[at] === '-') {
      batch.push([text.slice(at + 2, end), null]);
    } else {
      const [, reached, digest, checksum] = /^= (\d+) ([0-9a-f]{64}) ([0-9a-f]{8})$/.exec(text.slice(at, end)) ?? [];
      if (reached === undefined || digest === undefined || checksum === undefined) break;
      if (crc32(bytes.subarray(batchStart, end - 8)) !== Number.parseInt(checksum, 16)) break;
      const before = batch.map(([key]) => [key, inventory.docs.get(key) ?? null] as const);
      put(inventory.docs, listed, batch);
      if (listed.toString() !== digest) {
        put(inventory.docs, listed, before);
        break;
      }
      inventory.revision = Number(reached);
      inventory.digest = digest;
      lines += batch.length + 1;
      batch = [];
      batchStart = end + 1;
    }
    at = end + 1;
  }
  return lines === 0 ? null : { inventory, lines, whole: batchStart === bytes.length };
}

function put(docs: Map<string, Known>, digest: DigestBuilder, batch: Iterable<readonly [string, Known | null]>): void {
  for (const [key, known] of batch) {
    const old = docs.get(key);
    if (old !== undefined) digest.toggle(key, old.sha256);
    if (known === null) docs.delete(key);
    else {
      docs.set(key, known);
      digest.toggle(key, known.sha256);
    }
  }
}
