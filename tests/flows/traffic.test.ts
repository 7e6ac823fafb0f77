// Compares the charts with the requests that the test sent through real nodes.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import type { ChartMetric } from '@edgeloom/contract/charts/charts.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { collectedStops } from '../support/services/collected-stops.ts';
import type { TestAgent } from '../support/services/agent.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { visit } from '../support/assertions/visit.ts';
import { anotherSite, nodeAt, servedSite } from '../support/builders/served-site.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import type { Origin } from '../support/fakes/origin.ts';
import { testDatabase } from '../support/services/shared-services.ts';

let plane: ControlPlane;
let origin: Origin;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase(), apis: 2 });
  onEnd(() => plane.stop());
  origin = await startOrigin();
  onEnd(() => origin.stop());
});
afterAll(stopAll);

/** Status for a name that the node does not serve. */
const NO_SUCH_SITE = 903;

type Account = Parameters<ControlPlane['as']>[0];

/** The sum of each series over the last day. */
async function sums(account: Account, metric: ChartMetric, query: { siteID?: string } = {}) {
  const { series, hasData } = await plane.as(account).call(charts.get, { params: { metric }, query });
  if (!hasData) return null;
  return Object.fromEntries(
    series.map(({ name, values }) => [name, values.reduce<number>((sum, value) => sum + (value ?? 0), 0)]),
  );
}

/** Bytes of a site's responses, from nginx's log. */
async function loggedBytes({ dir }: TestAgent, siteID: string): Promise<number> {
  const logs = path.join(dir, 'logs');
  const files = (await readdir(logs)).filter((name) => name.startsWith('access.json'));
  const texts = await Promise.all(files.map((name) => readFile(path.join(logs, name), 'utf8')));
  return texts
    .flatMap((text) => text.split('\n').filter(Boolean))
    .map((line): { site: string; bytes: number } => JSON.parse(line))
    .reduce((sum, { site, bytes }) => (site === siteID ? sum + bytes : sum), 0);
}

test('each request counts once while agents and an API process are killed', { timeout: 300_000 }, async () => {
  const { port, zone, site, name } = await servedSite(plane, origin);
  const other = await anotherSite(plane, zone, origin);
  const both = await Promise.all([nodeAt(plane, zone, '127.0.0.1'), nodeAt(plane, zone, '127.0.0.2')]);
  expect(await sums(site.owner, 'requests')).toBeNull();
  for (const { agent } of both) {
    onTestFinished(() => agent.stop());
    agent.start();
  }

  const sent = { site: 0, other: 0 };
  const request = async (one: 'site' | 'other', address: string) => {
    const { status } = await visit(port, one === 'site' ? name : other.name, `/${sent.site}-${sent.other}`, address);
    // Before the node has its documents it knows no site.
    if (status !== NO_SUCH_SITE) sent[one] += 1;
    return status;
  };
  for (const { address } of both) {
    await eventually(async () => expect(await request('site', address)).toBe(200), { within: 60_000 });
    await eventually(async () => expect(await request('other', address)).toBe(200), { within: 60_000 });
  }
  const burst = async (count: number) => {
    for (let i = 0; i < count; i += 1)
      for (const { address } of both) await Promise.all([request('site', address), request('other', address)]);
  };
  const [first, second] = both;
  await burst(30);
  await first.agent.end('SIGKILL');
  await burst(30);
  await plane.api.kill();
  first.agent.start();
  await burst(30);
  await second.agent.end('SIGKILL');
  await plane.api.start();
  second.agent.start();
  await burst(30);

  const isCounted = async (account: Account, requests: number, query = {}) =>
    eventually(async () => expect(await sums(account, 'requests', query)).toEqual({ requests }), { within: 60_000 });
  await isCounted(site.owner, sent.site);
  await isCounted(other.site.owner, sent.other);
  await isCounted(zone.client, sent.site + sent.other);
  await isCounted(zone.client, sent.site, { siteID: site.id });
  const byStatus = await sums(other.site.owner, 'status');
  expect(Object.values(byStatus ?? {}).reduce((sum, count) => sum + count)).toBe(sent.other);
  expect(byStatus?.['2xx']).toBeGreaterThanOrEqual(240);
  const bytes = await Promise.all(both.map(({ agent }) => loggedBytes(agent, site.id)));
  expect(await sums(site.owner, 'traffic')).toEqual({ traffic: bytes.reduce((sum, one) => sum + one, 0) });
});
