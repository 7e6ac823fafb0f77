import { createServer } from 'node:http';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { networksAt, readRiskPack } from '@edgeloom/contract/edge/risk-pack.ts';
import { expect, onTestFinished, test } from 'vitest';
import { listFeed, makeRiskPack } from './risk-pack.ts';
import type { Feed } from './risk-pack.ts';

async function folder() {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-risk-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const feed = async (name: string, text: string, score: number | null = null): Promise<Feed> => {
    const from = path.join(dir, name);
    await writeFile(from, text);
    return { from, score };
  };
  return { dir, out: path.join(dir, 'out'), feed };
}

/** A third-party list on a web server. */
async function listOnTheWeb(answer: (path: string) => { status: number; body: string }): Promise<string> {
  const server = createServer((request, response) => {
    const { status, body } = answer(request.url ?? '');
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  const address = server.address();
  return `http://127.0.0.1:${address === null || typeof address === 'string' ? 0 : address.port}`;
}

test('feeds of both formats, from files and the web, become one pack, and the result is reproducible', async () => {
  const { out, feed } = await folder();
  const web = await listOnTheWeb(() => ({ status: 200, body: '# drop list\n8.8.4.0/24 ; SBL1\r\n2a00:bad::/32\n' }));
  const feeds = [
    await feed('own.csv', 'network,score\n"9.9.9.9",30\n8.8.4.4,20\n'),
    await feed('plain.txt', '9.9.9.9\n9.9.9.10\n', 75),
    listFeed(`100:${web}/list?format=text`),
  ];
  const made = await makeRiskPack(feeds, out);
  const file = await readFile(made.file);
  expect([...networksAt(readRiskPack(file), 75)]).toEqual(['8.8.4.0/24', '9.9.9.9', '9.9.9.10', '2a00:bad::/32']);
  expect([...networksAt(readRiskPack(file), 100)]).toEqual(['8.8.4.0/24', '2a00:bad::/32']);
  expect(made.levels).toContainEqual({ level: 100, networks: 2 });
  await makeRiskPack(feeds.toReversed(), out);
  expect(await readFile(made.file)).toEqual(file);
  expect(await readdir(out)).toEqual(['risk.bin']);
});

test('reserved networks and a few unreadable lines are skipped and counted', async () => {
  const { out, feed } = await folder();
  const { feeds } = await makeRiskPack(
    [await feed('a.txt', '10.0.0.0/8\n127.0.0.1\nfe80::1\nwhat\n8.8.8.8\n', 100)],
    out,
  );
  expect(feeds).toMatchObject([{ networks: 1, reserved: 3, unreadable: 1 }]);
});

test.each([
  ['a network wider than any list means', '8.8.8.8\n0.0.0.0/0\n', /line 2: 0\.0\.0\.0\/0 is wider/],
  ['a page in the place of a list', '<html>\n'.repeat(40), /is no list/],
  ['a list of nothing', '# nothing today\n', /is no list/],
  [
    'a list of much of the internet',
    Array.from({ length: 14 }, (_, i) => `${20 + i}.0.0.0/8\n`).join(''),
    /more than 5 %/,
  ],
])('%s aborts, and the previous pack stays', async (_, text, message) => {
  const { out, feed } = await folder();
  const { file } = await makeRiskPack([await feed('good.txt', '8.8.8.8', 50)], out);
  const before = await readFile(file);
  await expect(makeRiskPack([await feed('bad.txt', text, 50)], out)).rejects.toThrow(message);
  expect(await readFile(file)).toEqual(before);
  expect(await readdir(out)).toEqual(['risk.bin']);
});

test('a feed that cannot be downloaded aborts', async () => {
  const { out } = await folder();
  const web = await listOnTheWeb(() => ({ status: 503, body: '8.8.8.8' }));
  await expect(makeRiskPack([{ from: web, score: 50 }], out)).rejects.toThrow('answers 503');
});

test.each(['list.txt', '0:list.txt', '101:list.txt', '75:'])('--list %s says what is wanted', (option) => {
  expect(() => listFeed(option)).toThrow('a score from 1 to 100');
});
