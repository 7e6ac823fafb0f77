// Verifies files against the manifest, some at a time, in endless rounds: disks rot and people edit.
// Damaged or missing documents are dropped, so that a sync restores them.
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { documentFiles } from './documents.ts';
import type { DocumentStore } from './documents.ts';
import { decodeDocFile, docPath } from './files.ts';

export interface Scrubbed {
  checked: number;
  /** Documents that were dropped, with the reason. */
  damaged: { key: string; revision: number; error: string }[];
  /** This step completed a round. */
  round: boolean;
}

/** Few enough to delay an incoming change by milliseconds only. */
const SLICE = 64;

export class Scrub {
  readonly #store: DocumentStore;
  #left: string[] = [];

  constructor(store: DocumentStore) {
    this.#store = store;
  }

  async step(files: number): Promise<Scrubbed> {
    if (this.#left.length === 0) this.#left = [...this.#store.keys()];
    const damaged: Scrubbed['damaged'] = [];
    let checked = 0;
    while (checked < files && this.#left.length > 0) {
      const slice = this.#left.splice(-SLICE);
      checked += slice.length;
      const found = await this.#store.exclusive(() => Promise.all(slice.map((key) => this.#check(key))));
      damaged.push(...found.filter((one) => one !== null));
    }
    if (damaged.length > 0) await this.#store.drop(damaged.map(({ key }) => key));
    return { checked, damaged, round: this.#left.length === 0 };
  }

  /**
   * Removes files that the manifest does not list and returns their keys. A crash can leave the file of a withdrawn
   * document. Call this only when the manifest lists everything the zone has, or live documents would be deleted.
   * `isKept` names files that stay.
   */
  async sweep(isKept: (key: string) => boolean = () => false): Promise<string[]> {
    const isKnown = (key: string) => this.#store.get(key) !== undefined || isKept(key);
    // Listing a hundred thousand files is slow, so it does not block changes. Suspects are checked again.
    const suspects = await documentFiles(this.#store.dir, isKnown);
    return this.#store.exclusive(async () => {
      const unknown = suspects.filter(({ key }) => !isKnown(key));
      for (const { file } of unknown) await rm(file, { force: true });
      return unknown.map(({ key }) => key);
    });
  }

  async #check(key: string): Promise<Scrubbed['damaged'][number] | null> {
    const known = this.#store.get(key);
    if (known === undefined) return null;
    try {
      const { revision } = decodeDocFile(await readFile(path.join(this.#store.dir, docPath(key))));
      if (revision !== known.revision) throw new Error(`the file has revision ${revision}`);
      return null;
    } catch (error) {
      return { key, revision: known.revision, error: error instanceof Error ? error.message : String(error) };
    }
  }
}
