import { afterAll, expect, test } from 'vitest';
import { charts } from '@edgeloom/contract/charts/charts.endpoints.ts';
import { ChartMetric } from '@edgeloom/contract/charts/charts.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { addLogs, logLine } from '../support/builders/traffic.ts';
import { testApp } from '../support/services/app.ts';
import '../support/assertions/matchers.ts';

const app = await testApp();
const { as, build } = app;
afterAll(() => app.close());

test.each(ChartMetric.options)('%s says that nothing was measured, step by step, and never zero', async (metric) => {
  const { client } = await build.client();
  for (const [range, stepSeconds, hours] of [
    ['24h', 900, 24],
    ['30d', 3600, 720],
  ] as const) {
    const asked = Date.now();
    const chart = await as(client).call(charts.get, { params: { metric }, query: { range } });
    expect(chart).toMatchObject({ metric, range, stepSeconds, hasData: false });
    expect(chart.times[0]).toBe(chart.from);
    const [from, to] = [Date.parse(chart.from), Date.parse(chart.to)];
    expect(to - from).toBe(stepSeconds * 1000 * chart.times.length);
    expect(to).toBeGreaterThan(asked);
    // Whole hours, of which the current one is the last.
    expect(from % 3_600_000).toBe(0);
    expect(Math.ceil((to - from) / 3_600_000)).toBe(hours);
    for (const { values } of chart.series) expect(values).toEqual(chart.times.map(() => null));
  }
});

test('status codes are grouped by class', async () => {
  const { client } = await build.client();
  const { series } = await as(client).call(charts.get, { params: { metric: 'status' } });
  expect(series.map(({ name }) => name)).toEqual(['2xx', '3xx', '4xx', '5xx', '9xx']);
});

test('a customer may query zones of its sites only', async () => {
  const [site, other] = [await build.site(), await build.site()];
  const ask = (query: { zoneID?: string; siteID?: string }) =>
    as(site.owner).call(charts.get, { params: { metric: 'traffic' }, query });
  expect(await ask({ zoneID: site.zoneId, siteID: site.id })).toMatchObject({ hasData: false });
  await expect(ask({ zoneID: other.zoneId })).toFail('NOT_FOUND');
  await expect(ask({ siteID: other.id })).toFail('NOT_FOUND');
});

test('an administrator sees the sums of all clients, and a client only its own', async () => {
  const [site, other] = [await build.site(), await build.site()];
  for (const each of [site, other]) {
    const { id } = await build.node({ zone: each.zone });
    await addLogs(app.installation.pool, id, [logLine(each.id)]);
  }
  const requestsOf = async (account: SignedInAccount) => {
    const { series } = await as(account).call(charts.get, { params: { metric: 'requests' } });
    return series[0]?.values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  };
  expect(await requestsOf(await build.admin())).toBe(2);
  expect(await requestsOf(site.client)).toBe(1);
});
