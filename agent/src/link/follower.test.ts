// A model of the world between a control plane and a node: pushes get lost, come twice and out of order, documents come
// and go while pages travel, removals are forgotten, backups come back. In the end both must have the same.
import { EMPTY_DIGEST, sha256, toggle } from '@edgeloom/contract/edge/digest.ts';
import { DOCUMENT_SCHEMA } from '@edgeloom/contract/edge/documents.ts';
import type { Ack, DocEntry, DocPush, SyncReply, SyncRequest } from '@edgeloom/contract/edge/messages.ts';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Follower } from './follower.ts';
import type { Target } from './follower.ts';

const zone = '019a0000-0000-7000-8000-000000000001';
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The default of a second is too short on a machine that runs other tests. */
const WITHIN_MS = 30_000;

class Plane {
  entries = new Map<string, DocEntry>();
  revision = 0;
  floor = 0;
  readonly pushes: DocPush[] = [];

  change(name: number, isGone: boolean): void {
    const previous = this.revision;
    this.revision += 1;
    const key = `host/n${name}.example.com`;
    const body = isGone ? null : `{"revision":${this.revision}}`;
    const entry = { key, revision: this.revision, sha256: sha256(body ?? ''), body };
    this.entries.set(key, entry);
    const { revision, digest } = this;
    this.pushes.push({ schema: DOCUMENT_SCHEMA, zone, previous, revision, digest, docs: [entry] });
  }

  /** Removals are not remembered for ever. */
  forget(): void {
    for (const [key, { body }] of this.entries) if (body === null) this.entries.delete(key);
    this.floor = this.revision;
  }

  async page({ revision, full: going }: SyncRequest): Promise<SyncReply> {
    await Promise.resolve();
    const full = going || revision === 0 || revision > this.revision || revision < this.floor;
    const from = full && !going ? 0 : revision;
    const newer = [...this.entries.values()]
      .filter((entry) => entry.revision > from)
      .sort((a, b) => a.revision - b.revision);
    const docs = newer.slice(0, 3);
    const more = newer.length > docs.length;
    return { schema: DOCUMENT_SCHEMA, full, docs, revision: more ? (docs.at(-1)?.revision ?? 0) : this.revision, more };
  }

  get digest(): string {
    return digestOf([...this.entries.values()].filter(({ body }) => body !== null));
  }
}

class Node implements Target {
  readonly docs = new Map<string, DocEntry>();
  revision = 0;

  get digest(): string {
    return digestOf(this.docs.values());
  }

  get zoneDigest(): string {
    return this.digest;
  }

  keys(): Iterable<string> {
    return this.docs.keys();
  }

  async apply(entries: readonly DocEntry[], reached: number): Promise<Ack> {
    await Promise.resolve();
    for (const entry of entries) {
      if (entry.body === null) this.docs.delete(entry.key);
      else this.docs.set(entry.key, entry);
    }
    this.revision = reached;
    return { revision: reached, state: 'applied', rejected: [], tookMs: 0 };
  }
}

const digestOf = (entries: Iterable<DocEntry>) => {
  let digest = EMPTY_DIGEST;
  for (const { key, sha256: hash } of entries) digest = toggle(digest, key, hash);
  return digest;
};

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ what: fc.constant('change' as const), name: fc.nat(8), gone: fc.boolean() }) },
  { weight: 8, arbitrary: fc.record({ what: fc.constant('deliver' as const), which: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('breathe' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constantFrom('forget' as const, 'reconnect' as const, 'save' as const, 'restore' as const),
    }),
  },
);

test('whatever is lost, repeated, forgotten or restored, heartbeats bring the node to what the zone has', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const plane = new Plane();
      const node = new Node();
      const follower = new Follower(node, { sync: (request) => plane.page(request), ack: () => undefined }, silent);
      follower.connected();
      let backup = { entries: new Map(plane.entries), revision: 0, floor: 0 };
      for (const one of steps) {
        if (one.what === 'change') plane.change(one.name, one.gone);
        if (one.what === 'deliver') {
          const push = plane.pushes[one.which % (plane.pushes.length || 1)];
          if (push !== undefined) follower.push(push);
        }
        if (one.what === 'breathe') await new Promise((resolve) => setImmediate(resolve));
        if (one.what === 'forget') plane.forget();
        if (one.what === 'reconnect') follower.connected();
        if (one.what === 'save') backup = { ...plane, entries: new Map(plane.entries) };
        if (one.what === 'restore') {
          Object.assign(plane, { ...backup, entries: new Map(backup.entries) });
          plane.pushes.length = 0;
        }
      }
      for (let beat = 0; beat < 4; beat += 1) {
        for (let turn = 0; turn < 60; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        follower.compare(node, plane);
      }
      await follower.stop();
      expect(node.digest).toBe(plane.digest);
      expect(node.revision).toBe(plane.revision);
    }),
    { numRuns: 300, seed: 1 },
  );
});

test('what has to wait keeps back nothing that came with it or after it, and comes once it may', async () => {
  const plane = new Plane();
  let mayReload = false;
  class Waiting extends Node {
    override apply(entries: readonly DocEntry[], reached: number): Promise<Ack> {
      const held = (mayReload ? [] : entries).filter(({ key }) => key === 'host/n0.example.com');
      const rest = entries.filter((entry) => !held.includes(entry));
      return super.apply(rest, held.length > 0 ? this.revision : reached);
    }
  }
  const node = new Waiting();
  const follower = new Follower(node, { sync: (request) => plane.page(request), ack: () => undefined }, silent);
  follower.connected();
  const say = (name: number) => {
    plane.change(name, false);
    for (const push of plane.pushes.splice(0)) follower.push(push);
  };
  say(1);
  await vi.waitFor(() => expect(node.revision).toBe(1), WITHIN_MS);
  say(0);
  // More than a page of them.
  for (let name = 2; name < 9; name += 1) say(name);
  await vi.waitFor(() => expect(node.docs.has('host/n8.example.com')).toBe(true), WITHIN_MS);
  expect([node.revision, node.docs.has('host/n0.example.com')]).toEqual([1, false]);
  mayReload = true;
  await vi.waitFor(() => expect(node.digest).toBe(plane.digest), WITHIN_MS);
  expect(node.revision).toBe(plane.revision);
  await follower.stop();
});

test('a database that was restored below a node is followed with the next pushes, whether or not they are older', async () => {
  const plane = new Plane();
  const node = new Node();
  const follower = new Follower(
    node,
    { sync: (request) => plane.page(request), ack: () => undefined, compareSoon: () => follower.compare(node, plane) },
    silent,
  );
  follower.connected();
  const write = (name: number) => {
    plane.change(name, false);
    for (const push of plane.pushes.splice(0)) follower.push(push);
  };
  for (const before of [9, 3, 1]) {
    for (let name = 0; name < 4; name += 1) write(name);
    const backup = { ...plane, entries: new Map(plane.entries) };
    for (let name = 0; name < 3; name += 1) write(100 + 10 * before + name);
    await vi.waitFor(() => expect(node.digest).toBe(plane.digest), WITHIN_MS);
    Object.assign(plane, backup);
    // Up to beyond the revision that the node has, and not as far.
    for (let i = 0; i < before; i += 1) write(5);
    await vi.waitFor(() => expect(node.digest).toBe(plane.digest), WITHIN_MS);
    expect(node.revision).toBe(plane.revision);
    follower.compare(node, plane);
  }
  await follower.stop();
});

test('what is pushed before it asks is not asked for', async () => {
  const plane = new Plane();
  const node = new Node();
  const asked: number[] = [];
  const sync = (request: SyncRequest) => {
    asked.push(request.revision);
    return plane.page(request);
  };
  const follower = new Follower(node, { sync, ack: () => undefined }, silent);
  follower.connected();
  await vi.waitFor(() => expect(follower.syncing).toBe(false), WITHIN_MS);
  const sent = { revision: node.revision, digest: node.digest };
  plane.change(1, false);
  for (const push of plane.pushes.splice(0)) follower.push(push);
  follower.compare(sent, plane);
  await vi.waitFor(() => expect([asked.length, follower.syncing]).toEqual([2, false]), WITHIN_MS);
  expect(asked).toEqual([0, 1]);
  await follower.stop();
});

// Regression: each page reset the timeout, so a full sync whose pages take longer started over for ever.
test('a sync succeeds over a link that needs longer than the first timeout for each page', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const plane = new Plane();
  const node = new Node();
  for (let name = 0; name < 9; name += 1) plane.change(name, false);
  plane.pushes.length = 0;
  const sync = (request: SyncRequest, timeoutMs: number) =>
    new Promise<SyncReply>((resolve, reject) => {
      setTimeout(() => void plane.page(request).then(resolve), 6000);
      setTimeout(reject, timeoutMs, new Error('no response'));
    });
  const follower = new Follower(node, { sync, ack: () => undefined }, silent);
  follower.connected();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(node.digest).toBe(plane.digest);
  const stopped = follower.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  await stopped;
});

// The node once waited 30 seconds for the response, and applied no push meanwhile.
test('pushes are applied after five seconds when the API process that received a sync died', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const plane = new Plane();
  const node = new Node();
  const timeouts: number[] = [];
  const sync = (_request: SyncRequest, timeoutMs: number) => {
    timeouts.push(timeoutMs);
    return new Promise<SyncReply>((_, reject) => setTimeout(reject, timeoutMs, new Error('no response')));
  };
  const follower = new Follower(node, { sync, ack: () => undefined }, silent);
  follower.connected();
  await vi.advanceTimersByTimeAsync(1);
  plane.change(1, false);
  for (const push of plane.pushes.splice(0)) follower.push(push);
  await vi.advanceTimersByTimeAsync(5000);
  expect(node.digest).toBe(plane.digest);
  // A control plane that only is slow gets more time.
  await vi.advanceTimersByTimeAsync(120_000);
  expect(timeouts.slice(0, 5)).toEqual([5000, 10_000, 20_000, 30_000, 30_000]);
  const stopped = follower.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  await stopped;
});
