// An access log in the Combined Log Format is replayed through a node. Statistics say what awk says about the log.
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { cardTypes, topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { isLongRun } from '../support/builders/long-run.ts';
import { SeededRandom } from '../support/builders/seeded-random.ts';
import { nodeAt, servedSite } from '../support/builders/served-site.ts';
import { startOrigin, type Origin, type OriginRequest } from '../support/fakes/origin.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { testDatabase } from '../support/services/shared-services.ts';
import { testDir } from '../support/services/test-dir.ts';

const REQUESTS = isLongRun ? 5000 : 400;
const AT_ONCE = 8;
/** The status for a name that the node does not know yet. */
const NO_SUCH_SITE = 903;

const statuses: Readonly<Record<string, number>> = { missing: 404, moved: 302, broken: 500 };

let plane: ControlPlane;
let origin: Origin;
const { onEnd, stopAll } = collectedStops();
beforeAll(async () => {
  plane = await controlPlane({ databaseUrl: await testDatabase() });
  onEnd(() => plane.stop());
  const any = ({ path: asked, url }: OriginRequest) => ({
    status: statuses[asked.split('/')[1] ?? ''] ?? 200,
    body: url.repeat(20),
  });
  origin = await startOrigin({ any });
  onEnd(() => origin.stop());
});
afterAll(stopAll);

interface Asked {
  address: string;
  method: 'GET' | 'HEAD' | 'POST';
  url: string;
  referer: string;
}

function randomRequest(random: SeededRandom): Asked {
  // The square prefers small numbers: few pages have most requests.
  const page = Math.floor(random.next() ** 2 * 60);
  const area = random.one(['page', 'page', 'page', 'missing', 'moved', 'broken']);
  return {
    address: `127.0.0.${10 + Math.floor(random.next() ** 2 * 40)}`,
    method: random.one(['GET', 'GET', 'GET', 'HEAD', 'POST']),
    url: `/${area}/${page}${random.is(0.2) ? `?q=${page}` : ''}`,
    referer: random.one(['-', 'https://search.example/', `https://blog.example/${page % 3}`]),
  };
}

/** Resolves with the status and all bytes of the response. */
const ask = (port: number, name: string, { address, method, url, referer }: Asked) =>
  new Promise<{ status: number; bytes: number }>((resolve, reject) => {
    const headers = { host: name, ...(referer !== '-' && { referer }) };
    const call = request({ host: '127.0.0.1', port, path: url, method, headers, localAddress: address, agent: false });
    call.on('error', reject);
    call.on('response', (response) => {
      const { socket, statusCode: status = 0 } = response;
      socket.on('close', () => resolve({ status, bytes: socket.bytesRead }));
      response.resume();
    });
    call.end();
  });

const combined = ({ address, method, url, referer }: Asked, { status, bytes }: { status: number; bytes: number }) =>
  `${address} - - [02/Nov/2026:07:37:21 +0000] "${method} ${url} HTTP/1.1" ${status} ${bytes} "${referer}" "-"\n`;

const awk = (file: string, program: string) => execFileSync('awk', [program, file], { encoding: 'utf8' }).trim();

/** How often each value of an expression of awk occurs. */
function countBy(file: string, expression: string): Record<string, number> {
  const lines = awk(file, `{ v = ${expression}; n[v]++ } END { for (v in n) print n[v], v }`).split('\n');
  return Object.fromEntries(
    lines.map((line) => {
      const [count, ...value] = line.split(' ');
      return [value.join(' '), Number(count)] as const;
    }),
  );
}

test('statistics of a replayed access log are those of awk', { timeout: 300_000 }, async () => {
  const { port, zone, site, name } = await servedSite(plane, origin);
  const { agent } = await nodeAt(plane, zone);
  agent.start();
  onEnd(() => agent.stop());
  const log: string[] = [];
  const replay = async (asked: Asked) => {
    const reply = await ask(port, name, asked);
    if (reply.status !== NO_SUCH_SITE) log.push(combined(asked, reply));
    return reply.status;
  };
  const first: Asked = { address: '127.0.0.1', method: 'GET', url: '/', referer: '-' };
  await eventually(async () => expect(await replay(first)).toBe(200), { within: 120_000 });

  const random = new SeededRandom(1);
  const requests = Array.from({ length: REQUESTS }, () => randomRequest(random));
  const replayNext = async (): Promise<void> => {
    for (let next = requests.pop(); next !== undefined; next = requests.pop()) await replay(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, replayNext));
  const file = path.join(await testDir(), 'access.log');
  await writeFile(file, log.join(''));

  const { call } = plane.as(site.owner);
  const times = { timeInterval: 'oneHour' } as const;
  await eventually(
    async () => {
      const { data } = await call(statistics.cards, { body: times });
      const card = (type: number) => data.find((each) => each.type === type)?.value;
      expect(card(cardTypes.requests)).toBe(Number(awk(file, 'END { print NR }')));
      expect(card(cardTypes.traffic)).toBe(Number(awk(file, '{ bytes += $10 } END { printf "%d", bytes }')));
      expect(card(cardTypes.addresses)).toBe(Object.keys(countBy(file, '$1')).length);
      for (const [type, expression] of [
        [topTypes.status, '$9'],
        [topTypes.address, '$1'],
        [topTypes.method, 'substr($6, 2)'],
      ] as const) {
        const top = await call(statistics.top, { body: { ...times, type, top: 1000 } });
        const counts = Object.fromEntries(top.data.map((row) => [row.value, row.requests]));
        expect(counts).toEqual(countBy(file, expression));
      }
      const urls = countBy(file, `"${name}" substr($7, 1, match($7 "?", /[?]/) - 1)`);
      const referers = countBy(file, 'substr($11, 2, length($11) - 2)');
      delete referers['-'];
      for (const [type, counts] of [
        [topTypes.url, urls],
        [topTypes.referer, referers],
      ] as const) {
        const { data } = await call(statistics.top, { body: { ...times, type } });
        const largest = Object.values(counts).toSorted((a, b) => b - a);
        expect(data.map((row) => row.requests)).toEqual(largest.slice(0, 10));
        for (const row of data) expect(row.requests).toBe(counts[row.value]);
      }
    },
    { within: 60_000 },
  );
});
