// Prefetch, cache listing and kept URLs, on a real agent with nginx and on simulated nodes.
import { cacheRules, currentCache } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { jobs } from '@edgeloom/contract/jobs/jobs.endpoints.ts';
import { preheatCaches } from '@edgeloom/contract/preheat-caches/preheat-caches.endpoints.ts';
import { preheat } from '@edgeloom/contract/preheat/preheat.endpoints.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { longTest } from '../support/builders/long-run.ts';
import type { BuiltZone } from '../support/builders/build.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import '../support/assertions/matchers.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import type { Origin } from '../support/fakes/origin.ts';
import { nodeAt, servedSite } from '../support/builders/served-site.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { joinSimulated } from '../support/fakes/simulated-node.ts';
import { visit } from '../support/assertions/visit.ts';

let plane: ControlPlane;
let origin: Origin;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
  onEnd(() => plane.stop());
  origin = await startOrigin();
  onEnd(() => origin.stop());
});
afterAll(stopAll);

/** A site that caches everything. */
async function served() {
  const made = await servedSite(plane, origin);
  const { call, params } = made;
  await call(cacheRules.create, { params, body: { rules: [{ type: 'prefix', value: ['/'], cacheTime: 3600 }] } });
  const jobOf = (jobID: string) => call(jobs.get, { params: { ...params, jobID } });
  return { ...made, jobOf };
}

test('prefetched objects are cached before the first visitor, and the node reports its cache usage', async () => {
  const { port, zone, call, params, name, jobOf } = await served();
  const { agent } = await nodeAt(plane, zone);
  onTestFinished(() => agent.stop());
  agent.start();
  await eventually(async () => expect((await visit(port, name, '/up')).status).toBe(200), { within: 60_000 });
  expect(await call(currentCache.get, { params })).toMatchObject({ objects: expect.any(Number) });

  const paths = Array.from({ length: 20 }, (_, i) => `/file${i}`);
  const urls = paths.map((path) => `http://${name}:${port}${path}`);
  const { jobID } = await call(preheat.start, { params, body: { urls } });
  await eventually(async () => expect(await jobOf(jobID)).toMatchObject({ state: 'completed', kind: 'preheat' }), {
    within: 60_000,
  });
  expect((await jobOf(jobID)).receipts).toMatchObject([{ state: 'done', objects: 20, error: null }]);
  for (const path of paths) expect(origin.asked(path)).toHaveLength(1);
  origin.on('/bad', { status: 404 });
  const wrong = await call(preheat.start, { params, body: { urls: [`http://${name}:${port}/bad`] } });
  await eventually(async () => expect((await jobOf(wrong.jobID)).state).toBe('failed'), { within: 60_000 });
  expect((await jobOf(wrong.jobID)).receipts).toMatchObject([{ objects: 0, error: expect.stringContaining('404') }]);

  // A running agent measures every thirty seconds, a new one after two.
  await agent.end('SIGKILL');
  agent.start();
  await eventually(
    async () => {
      const held = await call(currentCache.get, { params });
      expect(held.objects).toBeGreaterThanOrEqual(20);
      expect(held.bytes).toBeGreaterThan(20 * 300);
      expect(held.nodes).toHaveLength(1);
      expect(held.measuredAt).not.toBeNull();
    },
    { within: 100_000 },
  );
}, 360_000);

longTest('purged objects no longer count as cached', { timeout: 360_000 }, async () => {
  const { port, zone, call, params, name } = await served();
  const { agent } = await nodeAt(plane, zone);
  onTestFinished(() => agent.stop());
  agent.start();
  await eventually(async () => expect((await visit(port, name, '/up')).status).toBe(200), { within: 60_000 });
  const isCached = (expected: object) =>
    eventually(async () => expect(await call(currentCache.get, { params })).toMatchObject(expected), {
      within: 100_000,
    });
  await isCached({ objects: 1 });
  // The files remain for a while but are not served.
  await call(purge.all, { params });
  await isCached({ objects: 0, bytes: 0 });
});

test('a prefetch runs in parts on each node, reports progress, and does not delay purges', async () => {
  const { zone, call, params, name, jobOf } = await served();
  const nodes = await Promise.all([1, 2].map(async () => joinSimulated(await plane.node(zone))));
  for (const node of nodes) {
    node.connect();
    onTestFinished(() => node.disconnect());
  }
  await eventually(() => {
    for (const node of nodes) expect(node.doc(`host/${name}`)).not.toBeNull();
  });
  const urls = Array.from({ length: 30 }, (_, i) => `http://${name}/${i}`);
  const seen = nodes.map((node) => {
    const parts: number[] = [];
    node.onPreheat = (part) => {
      parts.push(part.length);
      return { fetched: part.length, error: null };
    };
    return parts;
  });
  const { jobID } = await call(preheat.start, { params, body: { urls } });
  await eventually(async () => expect(await jobOf(jobID)).toMatchObject({ state: 'completed', done: 2, total: 2 }), {
    within: 60_000,
  });
  for (const parts of seen) expect(parts).toEqual([8, 8, 8, 6]);
  expect((await jobOf(jobID)).receipts.map(({ objects }) => objects)).toEqual([30, 30]);
});

test('only URLs of the site are prefetched', async () => {
  const { call, params, name } = await served();
  const body = { urls: [`http://${name}/a`, 'http://other.example.com/'] };
  await expect(call(preheat.start, { params, body })).toFail('PARAMETER', {
    errorData: [expect.objectContaining({ path: 'urls.1' })],
  });
});

describe('a kept URL of a zone', () => {
  /** Simulated nodes with the site's documents, and the requests to each. */
  async function looking(count: number, zone: BuiltZone, name: string) {
    const nodes = await Promise.all(Array.from({ length: count }, async () => joinSimulated(await plane.node(zone))));
    const looks = nodes.map((node) => {
      const seen: string[] = [];
      node.onWarm = (url) => {
        seen.push(url);
        return { state: 'stored', fault: null, freshSeconds: 3600 };
      };
      return seen;
    });
    for (const node of nodes) {
      node.connect();
      onTestFinished(() => node.disconnect());
    }
    await eventually(() => {
      for (const node of nodes) expect(node.doc(`host/${name}`)).not.toBeNull();
    });
    return { nodes, looks };
  }
  const long = { within: 60_000 };

  test('is fetched by each node, also by new and returning nodes, and again after its purge', async () => {
    const { port, zone, call, params, name, site } = await served();
    const operator = plane.as(site.client);
    const inZone = { zoneId: zone.id };
    const { nodes, looks } = await looking(2, zone, name);
    const urls = Array.from({ length: 10 }, (_, i) => `http://${name}:${port}/kept${i}`);
    const [first = ''] = urls;
    const away = nodes[1];
    await away?.disconnect();
    expect(await operator.call(preheatCaches.create, { params: inZone, body: { urls } })).toMatchObject({
      ids: expect.toSatisfy((ids: unknown[]) => ids.length === 10),
    });
    const listed = () => operator.call(preheatCaches.list, { params: inZone, query: { sortBy: 'url' } });
    await eventually(async () => expect((await listed()).data[0]).toMatchObject({ stored: 1, waiting: 1 }), long);
    away?.connect();
    const late = await looking(1, zone, name);
    await eventually(async () => {
      const { data, total } = await listed();
      expect(total).toBe(10);
      for (const row of data) expect(row).toMatchObject({ state: 'stored', nodes: 3, stored: 3, failing: 0 });
      expect(data[0]?.warmedAt).not.toBeNull();
    }, long);
    for (const seen of [...looks, ...late.looks]) expect(seen.toSorted()).toEqual(urls);

    const before = looks.map((seen) => seen.length);
    await call(purge.urls, { params, body: { type: 1, urls: [first] } });
    await eventually(async () => expect((await listed()).data[0]).toMatchObject({ state: 'stored', stored: 3 }), long);
    expect(looks.map((seen, i) => seen.slice(before[i]))).toEqual([[first], [first]]);
    // Prefetch starts after the purge.
    for (const node of nodes) expect(node.purged).toEqual([[first]]);
  });

  test('does not block shutdown while a node waits for an origin', async () => {
    const { port, zone, name, site } = await served();
    const { nodes } = await looking(1, zone, name);
    let isAsked = false;
    for (const node of nodes) {
      await node.disconnect();
      node.commandHandlers.warm = () => {
        isAsked = true;
        return new Promise(() => undefined);
      };
      node.connect();
    }
    const body = { urls: [`http://${name}:${port}/slow`] };
    await plane.as(site.client).call(preheatCaches.create, { params: { zoneId: zone.id }, body });
    await eventually(() => expect(isAsked).toBe(true), long);
    // A waiting request is cut off on shutdown, yet the exit is clean.
    expect(await plane.api.stop()).toEqual({ code: 0, signal: null });
    await plane.api.start();
  });

  test('reports where it is missing and why, and is retried', async () => {
    const { port, zone, name, site } = await served();
    const operator = plane.as(site.client);
    const inZone = { zoneId: zone.id };
    const { nodes } = await looking(2, zone, name);
    const [good, bad] = nodes;
    if (bad) bad.onWarm = () => ({ state: 'failed', fault: '502', freshSeconds: null });
    await operator.call(preheatCaches.create, { params: inZone, body: { urls: [`http://${name}:${port}/x`] } });
    const row = async () => (await operator.call(preheatCaches.list, { params: inZone })).data[0];
    await eventually(
      async () => expect(await row()).toMatchObject({ state: 'failing', stored: 1, failing: 1, nodes: 2 }),
      long,
    );
    const id = (await row())?.id ?? '';
    const { data } = await operator.call(preheatCaches.copies, { params: { ...inZone, preheatId: id } });
    expect(data.filter(({ state }) => state === 'failed')).toMatchObject([
      { nodeID: bad?.identity.nodeID, fault: '502', warmedAt: null },
    ]);
    expect(data.filter(({ state }) => state === 'stored')).toMatchObject([{ nodeID: good?.identity.nodeID }]);
    if (bad) bad.onWarm = () => ({ state: 'stored', fault: null, freshSeconds: null });
    await operator.call(preheatCaches.warm, { params: inZone, body: { ids: [id] } });
    await eventually(async () => expect(await row()).toMatchObject({ state: 'stored', stored: 2 }), long);
  });
});
