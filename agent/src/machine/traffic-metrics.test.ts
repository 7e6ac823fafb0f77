import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { TrafficMetricsReader } from './traffic-metrics.ts';

async function log() {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-gauges-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'access.json');
  await writeFile(file, '');
  return file;
}
const NOW = 1_800_000_000_000;
/** This node serves one site that is known by a host. */
const siteOf = (host: string) => Promise.resolve(host === 'www.example.com' ? 'one' : null);
const none = { requests: 0, serverErrors: 0, refused: 0, slow: 0, sites: [] };
const SITE = '"site":"one","domain":"","host":"www.example.com"';
const line = (status: number, seconds = 0.004, agoSeconds = 1, uri = '/') =>
  `{"time":${(NOW / 1000 - agoSeconds).toFixed(3)},"id":"a",${SITE},"uri":${JSON.stringify(uri)},"status":${status},"bytes":1,"requestBytes":2,"requestTime":${seconds.toFixed(3)},"upstreamTime":""}\n`;

test('requests and responses from 500 to 599 are counted from the first reading on', async () => {
  const file = await log();
  await appendFile(file, line(200) + line(502));
  const gauges = new TrafficMetricsReader(file, siteOf);
  expect(await gauges.read(NOW)).toEqual({ p99Ms: 4, since: none });
  await appendFile(file, line(200) + line(503) + line(903) + line(499));
  expect((await gauges.read(NOW)).since).toMatchObject({ requests: 4, serverErrors: 1 });
  expect((await gauges.read(NOW)).since).toEqual(none);
});

test('requests that the node refused are counted, those that an origin refused are not', async () => {
  const file = await log();
  const gauges = new TrafficMetricsReader(file, siteOf);
  await gauges.read(NOW);
  const by = (status: number, cause: string) =>
    line(status).replace('}\n', `,"upstream":"","cause":"${cause}","rule":""}\n`);
  await appendFile(file, by(403, 'antiHeader') + by(444, 'abuseIP') + by(929, 'acl'));
  await appendFile(
    file,
    by(403, '') + by(301, 'urlRedirect') + by(404, '') + by(978, 'antiCC') + by(444, 'antiCC') + line(403) + line(444),
  );
  await appendFile(file, line(403, 0.004, 1, '/?","cause":"antiHeader"'));
  expect((await gauges.read(NOW)).since).toMatchObject({ requests: 11, refused: 4 });
});

test('the p99 latency covers the last seconds only', async () => {
  const file = await log();
  const gauges = new TrafficMetricsReader(file, siteOf);
  expect(await gauges.read(NOW)).toMatchObject({ p99Ms: null });
  await appendFile(file, line(200, 9, 60) + Array.from({ length: 200 }, (_, i) => line(200, (i + 1) / 1000)).join(''));
  expect(await gauges.read(NOW)).toMatchObject({ p99Ms: 198, since: { requests: 201 } });
  expect(await gauges.read(NOW + 60_000)).toEqual({ p99Ms: null, since: none });
});

const at = (site: string, host: string, status: number, seconds = 0.004) =>
  line(status, seconds).replace(SITE, `"site":"${site}","domain":"","host":"${host}"`);

test('new errors are reported per site, for sites of this node only', async () => {
  const file = await log();
  const reader = new TrafficMetricsReader(file, siteOf);
  await appendFile(file, at('two', 'a.example.com', 500));
  expect((await reader.read(NOW)).since).toEqual(none);
  await appendFile(file, at('two', 'a.example.com', 200) + at('two', 'a.example.com', 200));
  await appendFile(file, at('three', 'b.example.com', 502) + at('three', 'b.example.com', 200, 2));
  // Requests that ended before their site was known, and one for an unknown name.
  await appendFile(file, at('', 'www.example.com', 503) + at('', 'no.example.com', 503) + at('', '', 503));
  expect((await reader.read(NOW, 1000)).since).toEqual({
    requests: 5,
    serverErrors: 2,
    refused: 0,
    slow: 1,
    sites: [
      ['three', 2, 1, 0, 1],
      ['one', 1, 1, 0, 0],
    ],
  });
  expect((await reader.read(NOW, 1000)).since).toEqual(none);
});

test('the worst of very many sites are reported, so that the reply stays small', async () => {
  const file = await log();
  const gauges = new TrafficMetricsReader(file, siteOf);
  await gauges.read(NOW);
  const sites = Array.from({ length: 1200 }, (_, i) => at(`site ${i}`, 'a', 500));
  await appendFile(file, [...sites, ...sites.slice(700)].join(''));
  const { since } = await gauges.read(NOW);
  expect(since).toMatchObject({ requests: 1700, serverErrors: 1700 });
  expect(since.sites).toHaveLength(1000);
  expect(since.sites.slice(0, 500).every(([, , serverErrors]) => serverErrors === 2)).toBe(true);
});

test('a line that is being written is read when it is whole, and a rotated log is read from its start', async () => {
  const file = await log();
  const gauges = new TrafficMetricsReader(file, siteOf);
  await gauges.read(NOW);
  const whole = line(500);
  await appendFile(file, line(200) + whole.slice(0, 40));
  expect((await gauges.read(NOW)).since).toMatchObject({ requests: 1, serverErrors: 0 });
  await appendFile(file, whole.slice(40));
  expect((await gauges.read(NOW)).since).toMatchObject({ requests: 1, serverErrors: 1 });
  await rename(file, `${file}.1`);
  await writeFile(file, line(200) + line(200));
  expect((await gauges.read(NOW)).since).toMatchObject({ requests: 2, serverErrors: 0 });
});

test('a visitor cannot write what is counted', async () => {
  const file = await log();
  const gauges = new TrafficMetricsReader(file, siteOf);
  await gauges.read(NOW);
  await appendFile(file, line(200, 0.001, 1, '/","status":500,"requestTime":99,"'));
  expect(await gauges.read(NOW)).toEqual({ p99Ms: 1, since: { ...none, requests: 1 } });
});

test('a very large log is extrapolated from its last part', async () => {
  const file = await log();
  const gauges = new TrafficMetricsReader(file, siteOf);
  await gauges.read(NOW);
  const [good, bad] = [line(200, 0.001, 1, `/${'x'.repeat(300)}`), line(500, 0.001, 1, `/${'x'.repeat(300)}`)];
  const bulk = (good.repeat(9) + bad).repeat(200);
  for (let i = 0; i < 15; i += 1) await appendFile(file, bulk);
  const { requests, serverErrors } = (await gauges.read(NOW)).since;
  expect(requests).toBeGreaterThan(29_500);
  expect(requests).toBeLessThan(30_500);
  expect(serverErrors / requests).toBeCloseTo(0.1, 2);
});
