// WebP conversion from the API call to the visitor, including the image service's shutdown.
import { readdir, readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { loadLibrary } from '@edgeloom/agent/images/library.ts';
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { compression } from '@edgeloom/contract/compression/compression.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { longTest } from '../support/builders/long-run.ts';
import { startOrigin, type Origin } from '../support/fakes/origin.ts';
import { nodeAt, servedSite } from '../support/builders/served-site.ts';
import { testDatabase } from '../support/services/shared-services.ts';

const { onEnd, stopAll } = collectedStops();
let plane: ControlPlane;
let origin: Origin;
let site: Awaited<ReturnType<typeof servedSite>>;
let node: Awaited<ReturnType<typeof nodeAt>>;
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
  onEnd(() => plane.stop());
  origin = await startOrigin();
  onEnd(() => origin.stop());
  const photo = await loadLibrary()({ create: { width: 400, height: 300, channels: 3, background: '#c2185b' } })
    .jpeg()
    .toBuffer();
  for (let i = 0; i < 1000; i += 1) origin.on(`/${i}.jpg`, { headers: { 'content-type': 'image/jpeg' }, body: photo });
  site = await servedSite(plane, origin);
  const rules = [{ type: 'prefix' as const, value: ['/'], cacheTime: 3600 }];
  await site.call(cacheRules.create, { params: site.params, body: { rules } });
  node = await nodeAt(plane, site.zone);
  onEnd(() => node.agent.stop());
  node.agent.start();
});
afterAll(stopAll);

/** Content-Type of an image for a browser. */
const typeOf = (i: number) =>
  new Promise<string | undefined>((resolve, reject) => {
    const headers = { host: site.name, accept: 'image/webp,*/*' };
    get({ host: '127.0.0.1', port: site.port, path: `/${i}.jpg`, headers, agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.headers['content-type']));
    }).on('error', reject);
  });

let last = 0;
/** Requests images that are not cached until one has this type. */
const nextIs = (type: string) =>
  eventually(
    async () => {
      last += 1;
      expect(await typeOf(last)).toBe(type);
    },
    { within: 60_000 },
  );

/** Processes of the node's image service. */
async function imageServices(): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
      return words.includes('images') && words.includes(`${node.agent.dir}/run`) ? Number(pid) : null;
    }),
  );
  return found.filter((pid) => pid !== null);
}

async function enableWebp(): Promise<void> {
  const { call, params } = site;
  const before = await call(compression.get, { params });
  await call(compression.update, { params, body: { ...before, webp: true, webpMinBytes: 0 } });
}

test('enabling WebP converts the next images for visitors', { timeout: 200_000 }, async () => {
  await eventually(async () => expect(await typeOf(0)).toBe('image/jpeg'), { within: 60_000 });
  expect(await imageServices()).toEqual([]);
  await eventually(
    async () => {
      const { capabilities } = await plane.as(site.zone.client).call(nodes.config, { params: { nodeID: node.nodeID } });
      expect(capabilities).toContain('webp');
    },
    { within: 60_000 },
  );
  await enableWebp();
  await nextIs('image/webp');
  expect(await imageServices()).toHaveLength(1);
});

longTest(
  'converted images are served without an agent, and the next agent converts again',
  async () => {
    await enableWebp();
    await nextIs('image/webp');
    const seen = last;

    await node.agent.end('SIGKILL');
    // The service exits soon after the agent.
    await eventually(async () => expect(await imageServices()).toEqual([]), { within: 60_000 });
    expect(await typeOf(seen)).toBe('image/webp');
    await nextIs('image/jpeg');

    node.agent.start();
    await nextIs('image/webp');
    expect(await imageServices()).toHaveLength(1);
    expect(await node.agent.end('SIGTERM')).toBe(0);
    await eventually(async () => expect(await imageServices()).toEqual([]));
  },
  400_000,
);
