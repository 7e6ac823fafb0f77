// Measures how much of each site is cached by reading the head of every cache file, since nginx keeps no such index.
// Runs slowly, and pauses in proportion to its work.
import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { CachedReport } from '@edgeloom/contract/edge/messages.ts';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import type { Log } from '../log.ts';
import type { DocumentStore } from './documents.ts';

interface Deps {
  /** The directory of nginx's cache. */
  dir: string;
  store: DocumentStore;
  report: (report: CachedReport) => void;
  log: Log;
}

const FIRST_AFTER_MS = 2000;
const AGAIN_AFTER_MS = 30_000;
/** At most one part in this many of the time is spent on it. */
const RESTS = 20;
const BETWEEN_FOLDERS_MS = 2;
const REPORTED_AT_ONCE = 1000;
/** After nginx's header, the key begins with the site and its version. */
const HEAD_BYTES = 512;
const KEY = /\nKEY: ([0-9a-f-]{36})\.(\d+)\./;

interface Held {
  objects: number;
  bytes: number;
}

export class CachedNow {
  readonly #parts: Deps;
  readonly #stopping = new AbortController();
  readonly #work: Promise<void>;
  /** The sites in the last report. */
  #reportedSites = new Set<string>();

  constructor(parts: Deps) {
    this.#parts = parts;
    this.#work = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#work;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let wait = FIRST_AFTER_MS;
    while (!signal.aborted) {
      await pause(wait, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      const began = performance.now();
      await this.#pass().catch((error: unknown) => this.#parts.log.warn('the store was not measured', { error }));
      wait = Math.max(AGAIN_AFTER_MS, (performance.now() - began) * RESTS);
    }
  }

  async #pass(): Promise<void> {
    const measuredAt = new Date().toISOString();
    const held = await this.#measure();
    // A site that left the cache is reported once as empty.
    const named = [...new Set([...held.keys(), ...this.#reportedSites])];
    this.#reportedSites = new Set(held.keys());
    for (let i = 0; i < named.length; i += REPORTED_AT_ONCE) {
      const sites = named
        .slice(i, i + REPORTED_AT_ONCE)
        .map((siteID) => ({ siteID, ...(held.get(siteID) ?? { objects: 0, bytes: 0 }) }));
      this.#parts.report({ measuredAt, sites });
    }
  }

  async #measure(): Promise<Map<string, Held>> {
    const held = new Map<string, Held>();
    const versions = new Map<string, number | null>();
    for (const outer of await folders(this.#parts.dir)) {
      for (const inner of await folders(path.join(this.#parts.dir, outer))) {
        if (this.#stopping.signal.aborted) return held;
        const folder = path.join(this.#parts.dir, outer, inner);
        for (const file of await readdir(folder).catch(() => []))
          await this.#count(path.join(folder, file), held, versions);
        await pause(BETWEEN_FOLDERS_MS);
      }
    }
    return held;
  }

  /** Files of an earlier site version are purged, though still on disk. */
  async #count(file: string, held: Map<string, Held>, versions: Map<string, number | null>): Promise<void> {
    const found = await readHead(file).catch(() => null);
    if (found === null) return;
    let version = versions.get(found.siteID);
    if (version === undefined) {
      version = await this.#versionOf(found.siteID);
      versions.set(found.siteID, version);
    }
    if (version !== found.version) return;
    const sum = held.get(found.siteID) ?? { objects: 0, bytes: 0 };
    held.set(found.siteID, { objects: sum.objects + 1, bytes: sum.bytes + found.bytes });
  }

  async #versionOf(siteID: string): Promise<number | null> {
    const body = await this.#parts.store.read(siteKey(siteID)).catch(() => null);
    return body === null ? null : Number(/"cacheVersion":(\d+)/.exec(body)?.[1] ?? 0);
  }
}

const folders = (dir: string) => readdir(dir).catch(() => []);

async function readHead(file: string): Promise<{ siteID: string; version: number; bytes: number } | null> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const [, siteID, version] = KEY.exec(buffer.toString('latin1', 0, bytesRead)) ?? [];
    if (siteID === undefined || version === undefined) return null;
    return { siteID, version: Number(version), bytes: (await handle.stat()).size };
  } finally {
    await handle.close();
  }
}
