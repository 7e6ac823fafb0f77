// Purges and their receipts, with two API processes of which one may die at any moment.
import { purge, purgeSites } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { jobs } from '@edgeloom/contract/jobs/jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { BuiltSite } from '../support/builders/build.ts';
import { unique } from '../support/builders/build.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import '../support/assertions/matchers.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { joinSimulated } from '../support/fakes/simulated-node.ts';
import type { SimulatedNode } from '../support/fakes/simulated-node.ts';

let plane: ControlPlane;
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase(), apis: 2 });
});
afterAll(() => plane.stop());

interface Served {
  site: BuiltSite;
  name: string;
  nodes: SimulatedNode[];
}

/** A site with one domain on simulated nodes. */
async function served(nodeCount: number): Promise<Served> {
  const site = await plane.build.site();
  const connected = await Promise.all(
    Array.from({ length: nodeCount }, async () => {
      const node = await joinSimulated(await plane.node(site.zone));
      node.connect();
      onTestFinished(() => node.disconnect());
      return node;
    }),
  );
  const name = `${unique('www')}.example.com`;
  const body = { domains: [{ name, upstreams: [{ address: '127.0.0.1', port: 8080 }] }] };
  await plane.as(site.owner).call(domains.create, { params: site.params, body });
  await eventually(() => {
    for (const node of connected) expect(node.doc(`host/${name}`)).not.toBeNull();
  });
  return { site, name, nodes: connected };
}

const owner = (site: BuiltSite) => plane.as(site.owner);
const jobOf = (site: BuiltSite, jobID: string) => owner(site).call(jobs.get, { params: { siteId: site.id, jobID } });

const purgeOf = async (site: BuiltSite, body: { type: 1 | 2 | 3 | 4; urls: string[]; soft?: boolean }) =>
  (await owner(site).call(purge.urls, { params: site.params, body })).jobID;

test('a purge of the whole site completes on a node with the new version', async () => {
  const { site, nodes } = await served(2);
  const { jobID } = await owner(site).call(purge.all, { params: site.params });
  await eventually(async () =>
    expect(await jobOf(site, jobID)).toMatchObject({ state: 'completed', done: 2, total: 2 }),
  );
  for (const node of nodes) expect(node.doc(`site/${site.id}`)).toMatchObject({ cacheVersion: 1 });
  expect((await jobOf(site, jobID)).receipts.map(({ state }) => state)).toEqual(['done', 'done']);
});

test('a soft purge of the whole site is sent to every node and keeps the version', async () => {
  const { site, nodes } = await served(2);
  const { jobID } = await owner(site).call(purge.all, { params: site.params, query: { soft: true } });
  const { jobIDs } = await plane.as(site.client).call(purgeSites.all, { body: { siteIDs: [site.id], soft: true } });
  for (const id of [jobID, ...jobIDs])
    await eventually(async () => expect(await jobOf(site, id)).toMatchObject({ state: 'completed', done: 2 }));
  const order = { site: site.id, prefixes: [''], soft: true };
  for (const node of nodes) {
    expect(node.orders).toEqual([order, order]);
    expect(node.doc(`site/${site.id}`)).toMatchObject({ cacheVersion: 0 });
  }
  const { data } = await owner(site).call(purge.history, { params: site.params });
  expect(data.map((row) => [row.type, row.soft, row.state, row.jobID]).toSorted()).toEqual(
    [jobID, ...jobIDs].map((id) => [0, true, 'completed', id]).toSorted(),
  );
});

test('an operator purges several sites at once, or none if one is foreign', async () => {
  const { site } = await served(1);
  const other = await plane.build.site();
  const client = plane.as(site.client);
  const both = client.call(purgeSites.all, { body: { siteIDs: [site.id, other.id] } });
  await expect(both).toFail('NOT_FOUND');
  const { jobIDs } = await client.call(purgeSites.all, { body: { siteIDs: [site.id] } });
  await eventually(async () => expect(await jobOf(site, jobIDs[0] ?? '')).toMatchObject({ state: 'completed' }));
  expect(await plane.installation.db.site.findUnique({ where: { id: other.id } })).toMatchObject({ cacheVersion: 0 });
});

test('a purge of one name raises the version of that name alone', async () => {
  const { site, name, nodes } = await served(1);
  const { jobID } = await owner(site).call(purge.urls, { params: site.params, body: { type: 3, urls: [name] } });
  await eventually(async () =>
    expect(await jobOf(site, jobID)).toMatchObject({ state: 'completed', kind: 'purgeHosts' }),
  );
  expect(nodes[0]?.doc(`host/${name}`)).toMatchObject({ cacheVersion: 1 });
  expect(nodes[0]?.doc(`site/${site.id}`)).toMatchObject({ cacheVersion: 0 });
});

test('a purge of URLs is sent to every node, which reports the number of objects', async () => {
  const { site, name, nodes } = await served(3);
  for (const [i, node] of nodes.entries()) node.purgeObjects = () => i * 10;
  const urls = [`http://${name}/a.css`, `https://${name}/b.css?x=1`];
  const { jobID } = await owner(site).call(purge.urls, { params: site.params, body: { type: 1, urls } });
  await eventually(async () => expect(await jobOf(site, jobID)).toMatchObject({ state: 'completed', done: 3 }));
  const { receipts } = await jobOf(site, jobID);
  expect(receipts.map(({ objects }) => objects ?? -1).sort((a, b) => a - b)).toEqual([0, 10, 20]);
  for (const node of nodes) expect(node.purged).toEqual([urls]);
  const history = await owner(site).call(purge.history, { params: site.params });
  expect(history.data).toMatchObject([{ jobID, urls, state: 'completed' }]);
});

test('prefixes, tags and soft purges are sent to every node, which does not count objects', async () => {
  const { site, name, nodes } = await served(2);
  const start = async (body: Parameters<typeof purgeOf>[1]) => jobOf(site, await purgeOf(site, body));
  const done = [
    await start({ type: 2, urls: [`https://${name.toUpperCase()}/%69mg/`] }),
    await start({ type: 4, urls: ['Shoes', 'shoes'], soft: true }),
    await start({ type: 3, urls: [name], soft: true }),
    await start({ type: 1, urls: [`http://${name}/a`], soft: true }),
  ];
  for (const { id } of done)
    await eventually(async () => {
      const job = await jobOf(site, id);
      expect(job).toMatchObject({ state: 'completed', done: 2 });
      expect(job.receipts.map(({ objects }) => objects)).toEqual([null, null]);
    });
  const orders = [
    { site: site.id, prefixes: [`${name}/img/`] },
    { site: site.id, tags: ['shoes'], soft: true },
    { site: site.id, prefixes: [`${name}/`], soft: true },
    { urls: [`http://${name}/a`], soft: true },
  ];
  for (const node of nodes) for (const order of orders) expect(node.orders).toContainEqual(order);
  const { data } = await owner(site).call(purge.history, { params: site.params });
  expect(data.map(({ type, soft }) => [type, soft])).toEqual(
    expect.arrayContaining([
      [1, true],
      [2, false],
      [3, true],
      [4, true],
    ]),
  );
});

test('an invalid purge is rejected, and no node is notified', async () => {
  const { site, name, nodes } = await served(1);
  const wrong: [Parameters<typeof purgeOf>[1], string][] = [
    [{ type: 2, urls: [`http://${name}/a/?b`] }, 'urls.0'],
    [{ type: 2, urls: [`http://${name}/img/`, `http://${name}/img`] }, 'urls.1'],
    [{ type: 2, urls: [`http://${name}`] }, 'urls.0'],
    [{ type: 2, urls: [`http://${name}/img/`, `http://${name}/a/*/`] }, 'urls.1'],
    [{ type: 2, urls: [`http://${name}//img/`] }, 'urls.0'],
    [{ type: 2, urls: [`${name}/img/`] }, 'urls.0'],
    [{ type: 2, urls: [`http://${name}/`, 'http://other.example.com/'] }, 'urls.1'],
    [{ type: 4, urls: ['a,b'] }, 'urls.0'],
    [{ type: 1, urls: [`http://${name}/a`, `http://${name}/a\r\nb`] }, 'urls.1'],
    [{ type: 4, urls: ['ok', 'x'.repeat(129)] }, 'urls.1'],
  ];
  for (const [body, path] of wrong)
    await expect(purgeOf(site, body)).toFail('PARAMETER', { errorData: [expect.objectContaining({ path })] });
  expect(nodes[0]?.orders).toEqual([]);
});

test('an offline node stays pending, and responds after its return', async () => {
  const { site, name, nodes } = await served(2);
  const [near, away] = nodes;
  await away?.disconnect();
  const urls = [`http://${name}/`];
  const { jobID } = await owner(site).call(purge.urls, { params: site.params, body: { type: 1, urls } });
  await eventually(async () =>
    expect(await jobOf(site, jobID)).toMatchObject({ state: 'processing', done: 1, total: 2 }),
  );
  expect(near?.purged).toEqual([urls]);
  expect(away?.purged).toEqual([]);
  away?.connect();
  await eventually(async () => expect(await jobOf(site, jobID)).toMatchObject({ state: 'completed', done: 2 }));
  expect(away?.purged).toEqual([urls]);
});

test('a disabled node does not delay a purge, and purges before it serves again', async () => {
  const { site, name, nodes: connected } = await served(2);
  const [, resting] = connected;
  const operator = plane.as(site.client);
  const ids = [resting?.identity.nodeID ?? ''];
  await operator.call(nodes.status, { body: { ids, enabled: false } });
  await resting?.disconnect();
  const urls = [`http://${name}/`];
  const { jobID } = await owner(site).call(purge.urls, { params: site.params, body: { type: 1, urls } });
  await eventually(async () =>
    expect(await jobOf(site, jobID)).toMatchObject({ state: 'completed', done: 1, total: 2 }),
  );
  // Regression: a node that was off at the time served the old object later.
  resting?.connect();
  await eventually(() => expect(resting?.purged).toEqual([urls]));
  await eventually(async () => expect(await jobOf(site, jobID)).toMatchObject({ state: 'completed', done: 2 }));
});

test('a node without response delays nothing', { timeout: 120_000 }, async () => {
  const { site, name, nodes } = await served(2);
  const [, silent] = nodes;
  let release: () => void = () => undefined;
  const later = new Promise<void>((resolve) => (release = resolve));
  if (silent) silent.beforePurge = () => later;
  const purgeOnce = async (path: string) => {
    const body = { type: 1 as const, urls: [`http://${name}${path}`] };
    return (await owner(site).call(purge.urls, { params: site.params, body })).jobID;
  };
  const jobIDs: string[] = [];
  for (const path of ['/1', '/2', '/3', '/4', '/5', '/6']) jobIDs.push(await purgeOnce(path));
  await eventually(async () => {
    for (const jobID of jobIDs) expect(await jobOf(site, jobID)).toMatchObject({ done: 1, total: 2 });
  });
  release();
  await eventually(
    async () => {
      for (const jobID of jobIDs) expect(await jobOf(site, jobID)).toMatchObject({ state: 'completed' });
    },
    { within: 60_000 },
  );
});

test('a node that cannot purge fails the job with the reason', async () => {
  const { site, name, nodes } = await served(2);
  const [, broken] = nodes;
  if (broken)
    broken.purgeObjects = () => {
      throw new Error('the cache is on fire');
    };
  const body = { type: 1 as const, urls: [`http://${name}/`] };
  const { jobID } = await owner(site).call(purge.urls, { params: site.params, body });
  await eventually(async () => expect(await jobOf(site, jobID)).toMatchObject({ state: 'failed', done: 2 }));
  const { receipts } = await jobOf(site, jobID);
  expect(receipts.find(({ nodeID }) => nodeID === broken?.identity.nodeID)).toMatchObject({
    state: 'failed',
    error: 'the cache is on fire',
  });
});

test('a node that rejected the new version has not purged', async () => {
  const { site, nodes } = await served(1);
  nodes[0]?.rejectReasons.set(`site/${site.id}`, 'not this one');
  const { jobID } = await owner(site).call(purge.all, { params: site.params });
  await eventually(async () => expect(await jobOf(site, jobID)).toMatchObject({ state: 'failed' }));
  expect((await jobOf(site, jobID)).receipts).toMatchObject([{ state: 'failed', error: 'not this one' }]);
});

test('a job of a zone without nodes ends at once', async () => {
  const site = await plane.build.site();
  const { jobID } = await owner(site).call(purge.all, { params: site.params });
  await eventually(async () => expect(await jobOf(site, jobID)).toMatchObject({ state: 'completed', total: 0 }));
});

test('a job ends when the last pending node is removed', async () => {
  const {
    site,
    name,
    nodes: [away],
  } = await served(1);
  await away?.disconnect();
  const body = { type: 1 as const, urls: [`http://${name}/`] };
  const { jobID } = await owner(site).call(purge.urls, { params: site.params, body });
  const ids = [away?.identity.nodeID ?? ''];
  const client = plane.as(site.client);
  await expect(client.call(nodes.remove, { body: { ids } })).toFail('STILL_ENABLED', {
    errorData: [expect.objectContaining({ id: ids[0] })],
  });
  await client.call(nodes.status, { body: { ids, enabled: false } });
  await client.call(nodes.remove, { body: { ids } });
  await eventually(async () => expect(await jobOf(site, jobID)).toMatchObject({ state: 'completed', total: 0 }));
});

test('a purge of a killed API process is finished by another process', async () => {
  const {
    site,
    name,
    nodes: [node],
  } = await served(1);
  await node?.disconnect();
  const [first] = plane.apis;
  onTestFinished(() => first?.start());
  const body = { type: 1 as const, urls: [`http://${name}/`] };
  const { jobID } = await owner(site).call(purge.urls, { params: site.params, body });
  // The process died while it was calling the node.
  await plane.installation.db.jobReceipt.updateMany({
    where: { jobId: jobID },
    data: { claimedUntil: new Date(Date.now() + 3000) },
  });
  await first?.kill();
  node?.connect();
  await eventually(async () => {
    const job = await plane.installation.db.job.findUnique({ where: { id: jobID } });
    expect(job).toMatchObject({ state: 'completed' });
  });
  expect(node?.purged).toHaveLength(1);
});

describe('a URL is purged by', () => {
  test('the customer who has its domain enabled; other names are reported', async () => {
    const { site, name } = await served(0);
    const other = await served(0);
    const urls = [`http://${name}/`, `http://${other.name}/`, 'not a URL', `https://www.${name}/`];
    const call = owner(site).call(purge.urls, { params: site.params, body: { type: 1, urls } });
    await expect(call).toFail('PARAMETER', {
      errorData: [
        { path: 'urls.1', rule: 'domain', message: 'no enabled domain of this site' },
        { path: 'urls.2', rule: 'format', message: 'wrong format' },
        { path: 'urls.3', rule: 'domain', message: 'no enabled domain of this site' },
      ],
    });
  });

  test('its wildcard as well', async () => {
    const { site, name } = await served(0);
    const body = { domains: [{ name: `*.${name}`, upstreams: [{ address: '127.0.0.1', port: 8080 }] }] };
    await owner(site).call(domains.create, { params: site.params, body });
    const urls = [`http://a.${name}/`];
    const { jobID } = await owner(site).call(purge.urls, { params: site.params, body: { type: 1, urls } });
    await eventually(async () => expect(await jobOf(site, jobID)).toMatchObject({ state: 'completed' }));
  });
});
