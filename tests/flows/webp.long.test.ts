// WebP conversion from the API call to the visitor, including the image service's shutdown.
import { readdir, readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { loadLibrary } from '@edgeloom/agent/images/library.ts';
import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { compression } from '@edgeloom/contract/compression/compression.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import '../support/assertions/matchers.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { nodeAt, servedSite } from '../support/builders/served-site.ts';
import { testDatabase } from '../support/services/shared-services.ts';

let plane: ControlPlane;
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
});
afterAll(() => plane.stop());

/** Content-Type for a browser. */
const typeOf = (port: number, host: string, path: string) =>
  new Promise<string | undefined>((resolve, reject) => {
    const headers = { host, accept: 'image/webp,*/*' };
    get({ host: '127.0.0.1', port, path, headers, agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.headers['content-type']));
    }).on('error', reject);
  });

/** Image services of a node's directory. */
async function servicesOf(dir: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
      return words.includes('images') && words.includes(`${dir}/run`) ? Number(pid) : null;
    }),
  );
  return found.filter((pid) => pid !== null);
}

test('enabling WebP takes effect within moments, also without an agent, and with the next agent', async () => {
  const origin = await startOrigin();
  onTestFinished(() => origin.stop());
  const photo = await loadLibrary()({ create: { width: 400, height: 300, channels: 3, background: '#c2185b' } })
    .jpeg()
    .toBuffer();
  for (let i = 0; i < 1000; i += 1) origin.on(`/${i}.jpg`, { headers: { 'content-type': 'image/jpeg' }, body: photo });
  const { port, zone, call, params, name } = await servedSite(plane, origin);
  await call(cacheRules.create, { params, body: { rules: [{ type: 'prefix', value: ['/'], cacheTime: 3600 }] } });
  const { nodeID, agent } = await nodeAt(plane, zone);
  onTestFinished(() => agent.stop());
  agent.start();
  await eventually(async () => expect(await typeOf(port, name, '/0.jpg')).toBe('image/jpeg'), { within: 60_000 });
  expect(await servicesOf(agent.dir)).toEqual([]);
  await eventually(
    async () => {
      const { capabilities } = await plane.as(zone.client).call(nodes.config, { params: { nodeID } });
      expect(capabilities).toContain('webp');
    },
    { within: 60_000 },
  );

  const before = await call(compression.get, { params });
  await call(compression.update, { params, body: { ...before, webp: true, webpMinBytes: 0 } });
  let last = 0;
  const nextIs = (type: string) =>
    eventually(
      async () => {
        last += 1;
        expect(await typeOf(port, name, `/${last}.jpg`)).toBe(type);
      },
      { within: 60_000 },
    );
  await nextIs('image/webp');
  const seen = last;
  const [service] = await servicesOf(agent.dir);
  expect(service).toBeDefined();

  await agent.end('SIGKILL');
  // The service exits soon after the agent.
  await eventually(async () => expect(await servicesOf(agent.dir)).toEqual([]), { within: 60_000 });
  expect(await typeOf(port, name, `/${seen}.jpg`)).toBe('image/webp');
  await nextIs('image/jpeg');

  agent.start();
  await nextIs('image/webp');
  expect(await servicesOf(agent.dir)).toHaveLength(1);
  expect(await agent.end('SIGTERM')).toBe(0);
  await eventually(async () => expect(await servicesOf(agent.dir)).toEqual([]));
}, 400_000);
