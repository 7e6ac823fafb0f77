// The store, the scrub and the follower together, while somebody damages the files below them.
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EMPTY_DIGEST, sha256, toggle } from '@edgeloom/contract/edge/digest.ts';
import { DOCUMENT_SCHEMA } from '@edgeloom/contract/edge/documents.ts';
import type { DocEntry, SyncReply, SyncRequest } from '@edgeloom/contract/edge/messages.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Follower } from '../link/follower.ts';
import { plan } from '../plan.ts';
import { digestOf, documentFiles, DocumentStore } from './documents.ts';
import { decodeDocFile, docPath } from './files.ts';
import { Scrub } from './scrub.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const FIRST_LINE = 'edgeloom-manifest 1\n'.length;

/** Modules have no form of their own, so any text is a document. */
const keyOf = (name: number) => `later/n${name}`;

class Plane {
  readonly entries = new Map<string, DocEntry>();
  revision = 0;

  change(name: number, isGone: boolean): void {
    this.revision += 1;
    const body = isGone ? null : `{"revision":${this.revision}}`;
    this.entries.set(keyOf(name), { key: keyOf(name), revision: this.revision, sha256: sha256(body ?? ''), body });
  }

  async page({ revision, full: going }: SyncRequest): Promise<SyncReply> {
    await Promise.resolve();
    const full = going || revision === 0 || revision > this.revision;
    const from = full && !going ? 0 : revision;
    const newer = [...this.entries.values()].filter((entry) => entry.revision > from);
    const docs = newer.sort((a, b) => a.revision - b.revision).slice(0, 3);
    const more = newer.length > docs.length;
    return { schema: DOCUMENT_SCHEMA, full, docs, revision: more ? (docs.at(-1)?.revision ?? 0) : this.revision, more };
  }

  get live(): DocEntry[] {
    return [...this.entries.values()].filter(({ body }) => body !== null);
  }

  get digest(): string {
    return this.live.reduce((digest, { key, sha256: hash }) => toggle(digest, key, hash), EMPTY_DIGEST);
  }
}

class Node {
  readonly #dir: string;
  readonly #plane: Plane;
  #store: DocumentStore;
  #scrub: Scrub;
  #sweeping = Promise.resolve();
  #swept = false;
  /** Documents of the zone that a sweep deleted. */
  readonly lost: string[] = [];

  private constructor(dir: string, plane: Plane, store: DocumentStore) {
    this.#dir = dir;
    this.#plane = plane;
    this.#store = store;
    this.#scrub = new Scrub(store);
  }

  static async open(dir: string, plane: Plane): Promise<Node> {
    return new Node(dir, plane, await DocumentStore.open(dir));
  }

  get store(): DocumentStore {
    return this.#store;
  }

  /** Closing the store writes nothing, so this is a kill as well. */
  async kill(): Promise<void> {
    await this.#store.close();
    this.#store = await DocumentStore.open(this.#dir);
    this.#scrub = new Scrub(this.#store);
    this.#swept = false;
  }

  /** One contact with the control plane: a sync, `beats` heartbeats, and what follows from them. */
  async meet(beats: number): Promise<void> {
    const store = this.#store;
    const follower = new Follower(
      {
        get revision() {
          return store.revision;
        },
        get digest() {
          return store.digest;
        },
        get zoneDigest() {
          return store.digest;
        },
        keys: () => [...store.keys()],
        apply: async (entries, reached) => {
          await store.commit(plan((key) => store.get(key), entries, { nodeID: '', zoneID: '' }).data, reached);
          return { revision: store.revision, state: 'applied', rejected: [], tookMs: 0 };
        },
        inSync: (full) => this.#inSync(full),
      },
      { sync: (request) => this.#plane.page(request), ack: () => undefined },
      silent,
    );
    follower.connected();
    for (let beat = 0; beat < beats; beat += 1) {
      while (follower.syncing) await new Promise((resolve) => setImmediate(resolve));
      const { damaged } = await this.#scrub.step(1000);
      if (damaged.length > 0) follower.ask(Math.min(...damaged.map(({ revision }) => revision)) - 1);
      if (!follower.syncing) follower.compare(store, this.#plane);
    }
    while (follower.syncing) await new Promise((resolve) => setImmediate(resolve));
    await follower.stop();
    await this.#sweeping;
  }

  async wholeFiles(): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (const { key, file } of await documentFiles(this.#dir)) {
      try {
        found.set(key, decodeDocFile(await readFile(file)).body);
      } catch {
        // Damaged.
      }
    }
    return found;
  }

  #inSync(full: boolean): void {
    if (this.#swept && !full) return;
    this.#swept = true;
    this.#sweeping = this.#sweep();
  }

  async #sweep(): Promise<void> {
    await this.#sweeping;
    const before = await this.wholeFiles();
    await this.#scrub.sweep();
    const after = await this.wholeFiles();
    for (const { key, body } of this.#plane.live)
      if (body !== null && before.get(key) === body && !after.has(key)) this.lost.push(key);
  }
}

const part = fc.double({ min: 0, max: 1, noNaN: true });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ what: fc.constant('change' as const), name: fc.nat(6), gone: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('meet' as const), beats: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('cut' as const), at: part }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constantFrom('header' as const, 'remove' as const) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('flip' as const), at: part }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('damage' as const), name: fc.nat(6) }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('kill' as const) }) },
);

test('whatever is cut, damaged or killed, the digest is of what is listed and a sweep deletes nothing of the zone', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
      const dir = await mkdtemp(path.join(tmpdir(), 'documents-'));
      const manifest = path.join(dir, 'manifest');
      try {
        const plane = new Plane();
        const node = await Node.open(dir, plane);
        for (const one of steps) {
          const bytes = await readFile(manifest).catch(() => Buffer.alloc(0));
          const at = 'at' in one ? Math.floor(one.at * bytes.length) : 0;
          if (one.what === 'change') plane.change(one.name, one.gone);
          if (one.what === 'meet') await node.meet(one.beats);
          if (one.what === 'cut' && bytes.length > 0) await truncate(manifest, at);
          if (one.what === 'header' && bytes.length > 0) await truncate(manifest, Math.min(bytes.length, FIRST_LINE));
          if (one.what === 'remove') await rm(manifest, { force: true });
          if (one.what === 'flip' && at < bytes.length) {
            bytes[at] = (bytes[at] ?? 0) ^ 0x10;
            await writeFile(manifest, bytes);
          }
          if (one.what === 'damage') {
            const file = path.join(dir, docPath(keyOf(one.name)));
            const whole = await readFile(file).catch(() => null);
            if (whole !== null) await writeFile(file, whole.subarray(0, -1));
          }
          if (one.what === 'kill') await node.kill();
          expectTrueDigest(node.store);
        }
        await node.kill();
        expectTrueDigest(node.store);
        await node.meet(4);
        await node.store.close();
        const wanted = new Map(plane.live.map(({ key, body }) => [key, body]));
        expect(node.lost).toEqual([]);
        expect(node.store.digest).toBe(plane.digest);
        expect(await node.wholeFiles()).toEqual(wanted);
        expect(await readdir(dir)).toContain('manifest');
      } finally {
        await rm(dir, { recursive: true, force: true });
      }
    }),
    { numRuns: 50, seed: 1 },
  );
}, 300_000);

function expectTrueDigest(store: DocumentStore): void {
  const listed = new Map(Array.from(store.keys(), (key) => [key, store.get(key) ?? fail(key)]));
  expect(store.digest).toBe(digestOf(listed));
}

function fail(key: string): never {
  throw new Error(`${key} is not listed`);
}
