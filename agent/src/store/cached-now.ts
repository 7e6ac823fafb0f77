// Measures how much of each site is cached by reading the head of every cache file, since nginx keeps no such index.
// Runs slowly, and pauses in proportion to its work.
import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { CachedReport } from '@edgeloom/contract/edge/messages.ts';
import { siteKey } from '@edgeloom/contract/edge/documents.ts';
import type { Log } from '../log.ts';
import { Loop } from '../loop.ts';
import type { DocumentStore } from './documents.ts';

interface Deps {
  /** The directory of nginx's cache. */
  dir: string;
  store: DocumentStore;
  report: (report: CachedReport) => void;
  log: Log;
}

const FIRST_PAUSE_MS = 2000;
const MIN_PAUSE_MS = 30_000;
/** The pause lasts this many times as long as the measurement. */
const IDLE_FACTOR = 20;
const FOLDER_PAUSE_MS = 2;
const MAX_PER_REPORT = 1000;
/** After nginx's header, the key begins with the site and its version. */
const HEAD_BYTES = 512;
const KEY = /\nKEY: ([0-9a-f-]{36})\.(\d+)\./;

interface CachedSize {
  objects: number;
  bytes: number;
}

export class CachedNow {
  readonly #deps: Deps;
  readonly #loop: Loop;
  /** The sites in the last report. */
  #reportedSites = new Set<string>();

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#loop = new Loop({
      firstPauseMs: FIRST_PAUSE_MS,
      task: async (signal) => {
        const startedAt = performance.now();
        await this.#reportSizes(signal);
        return Math.max(MIN_PAUSE_MS, (performance.now() - startedAt) * IDLE_FACTOR);
      },
      retryMs: MIN_PAUSE_MS,
      onError: (error) => deps.log.warn('the cache could not be measured', { error }),
    });
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #reportSizes(signal: AbortSignal): Promise<void> {
    const measuredAt = new Date().toISOString();
    const sizes = await this.#measure(signal);
    // A site that left the cache is reported once as empty.
    const named = [...new Set([...sizes.keys(), ...this.#reportedSites])];
    this.#reportedSites = new Set(sizes.keys());
    for (let i = 0; i < named.length; i += MAX_PER_REPORT) {
      const sites = named
        .slice(i, i + MAX_PER_REPORT)
        .map((siteID) => ({ siteID, ...(sizes.get(siteID) ?? { objects: 0, bytes: 0 }) }));
      this.#deps.report({ measuredAt, sites });
    }
  }

  async #measure(signal: AbortSignal): Promise<Map<string, CachedSize>> {
    const sizes = new Map<string, CachedSize>();
    const versions = new Map<string, number | null>();
    for (const outer of await folders(this.#deps.dir)) {
      for (const inner of await folders(path.join(this.#deps.dir, outer))) {
        if (signal.aborted) return sizes;
        const folder = path.join(this.#deps.dir, outer, inner);
        for (const file of await readdir(folder).catch(() => []))
          await this.#count(path.join(folder, file), sizes, versions);
        await setTimeout(FOLDER_PAUSE_MS);
      }
    }
    return sizes;
  }

  /** Files of an earlier site version are purged, though still on disk. */
  async #count(file: string, sizes: Map<string, CachedSize>, versions: Map<string, number | null>): Promise<void> {
    const found = await readHead(file).catch(() => null);
    if (found === null) return;
    let version = versions.get(found.siteID);
    if (version === undefined) {
      version = await this.#versionOf(found.siteID);
      versions.set(found.siteID, version);
    }
    if (version !== found.version) return;
    const sum = sizes.get(found.siteID) ?? { objects: 0, bytes: 0 };
    sizes.set(found.siteID, { objects: sum.objects + 1, bytes: sum.bytes + found.bytes });
  }

  async #versionOf(siteID: string): Promise<number | null> {
    const body = await this.#deps.store.read(siteKey(siteID)).catch(() => null);
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
