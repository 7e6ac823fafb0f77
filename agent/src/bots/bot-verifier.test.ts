import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { BotCandidate, BotVerdict } from '../nginx/admin.ts';
import { BotVerifier } from './bot-verifier.ts';
import type { VerifyBot } from './verify-bot.ts';

const HOUR_MS = 3_600_000;

const candidate = (address: string): BotCandidate => ({ bot: 'Googlebot', address, suffixes: ['googlebot.com'] });

/** An nginx that holds only the mark, and gives each candidate once. */
function fakeNginx() {
  const candidates: BotCandidate[] = [];
  const sent: BotVerdict[] = [];
  const held: string[] = [];
  const mostAsked: number[] = [];
  let mark: string | undefined;
  const nginx = {
    fetchBots: async (most: number) => {
      mostAsked.push(most);
      return { mark, candidates: candidates.splice(0, most) };
    },
    changeBots: async (verdicts: readonly BotVerdict[], next?: string) => {
      sent.push(...verdicts);
      mark = next ?? mark;
    },
    holdBots: async (bots: readonly { address: string }[]) => void held.push(...bots.map(({ address }) => address)),
  };
  return {
    nginx,
    candidates,
    held,
    mostAsked,
    verdictsOn: (address: string) => sent.filter((one) => one.address === address),
  };
}

interface Options {
  stored?: string;
  name?: string;
  verify?: VerifyBot;
}

async function start({ stored = '[]', name = 'bots.json', verify = async () => true }: Options) {
  const dir = await mkdtemp(path.join(tmpdir(), 'bots-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  await writeFile(path.join(dir, 'bots.json'), stored);
  const file = path.join(dir, name);
  const fake = fakeNginx();
  const asked: string[] = [];
  const warnings: string[] = [];
  const verifier = new BotVerifier({
    file,
    nginx: fake.nginx,
    verify: (one) => {
      asked.push(one.address);
      return verify(one);
    },
    log: { warn: (text) => void warnings.push(text) },
    intervalMs: 1,
    writeIntervalMs: 1,
  });
  onTestFinished(() => verifier.stop());
  return { ...fake, file, asked, warnings };
}

test('nginx gets a verdict again that it has lost, without another lookup', async () => {
  const { candidates, asked, verdictsOn } = await start({ verify: async ({ address }) => address !== '192.0.2.2' });
  for (let times = 1; times <= 2; times += 1) {
    candidates.push(candidate('192.0.2.1'), candidate('192.0.2.2'));
    await expect.poll(() => verdictsOn('192.0.2.1')).toHaveLength(times);
    await expect.poll(() => verdictsOn('192.0.2.2')).toHaveLength(times);
  }
  expect(asked).toEqual(['192.0.2.1', '192.0.2.2']);
  expect(verdictsOn('192.0.2.1').map(({ verified }) => verified)).toEqual([true, true]);
  expect(verdictsOn('192.0.2.2').map(({ verified }) => verified)).toEqual([false, false]);
});

test('name servers that do not respond delay no other bot, and hold their network', async () => {
  let giveUp: (verified: null) => void = () => undefined;
  const silence = new Promise<null>((resolve) => (giveUp = resolve));
  const verify: VerifyBot = ({ address }) => (address === '192.0.2.1' ? silence : Promise.resolve(true));
  const { candidates, held, verdictsOn } = await start({ verify });
  candidates.push(candidate('192.0.2.1'), candidate('192.0.2.2'));
  await expect.poll(() => verdictsOn('192.0.2.2')).toHaveLength(1);
  candidates.push(candidate('192.0.2.3'));
  await expect.poll(() => verdictsOn('192.0.2.3')).toHaveLength(1);
  expect(held).toEqual([]);
  giveUp(null);
  await expect.poll(() => held).toEqual(['192.0.2.1']);
  expect(verdictsOn('192.0.2.1')).toEqual([]);
});

test("no network is held while this machine's own name server does not respond", async () => {
  const verify: VerifyBot = ({ address }) => Promise.resolve(address === '192.0.2.2' ? true : null);
  const { candidates, asked, held, verdictsOn } = await start({ verify });
  candidates.push(candidate('192.0.2.1'));
  await expect.poll(() => asked).toContain('192.0.2.1');
  candidates.push(candidate('192.0.2.2'));
  await expect.poll(() => verdictsOn('192.0.2.2')).toHaveLength(1);
  expect(held).toEqual([]);
});

test('at most a hundred lookups wait for DNS, and the other candidates stay in nginx', async () => {
  const verify: VerifyBot = () => new Promise(() => undefined);
  const { candidates, asked, mostAsked } = await start({ verify });
  for (let i = 0; i < 150; i += 1) candidates.push(candidate(`198.18.${i}.1`));
  await expect.poll(() => mostAsked.at(-1)).toBe(0);
  expect(asked).toHaveLength(100);
  expect(candidates).toHaveLength(50);
});

test('a verified bot is looked up again in the last hour of its verdict', async () => {
  const until = Date.now() + HOUR_MS / 2;
  const stored = JSON.stringify([{ bot: 'Googlebot', address: '192.0.2.1', verified: true, until }]);
  const { candidates, asked, verdictsOn } = await start({ stored });
  await expect.poll(() => verdictsOn('192.0.2.1')).toMatchObject([{ verified: true }]);
  expect(verdictsOn('192.0.2.1')[0]?.renewsIn).toBeLessThan(0);
  candidates.push(candidate('192.0.2.1'));
  await expect.poll(() => verdictsOn('192.0.2.1')).toHaveLength(2);
  expect(verdictsOn('192.0.2.1')[1]).toMatchObject({ seconds: 86_400, renewsIn: 82_800 });
  expect(asked).toEqual(['192.0.2.1']);
});

test.each([
  ['is cut off', '[{"bot":"Googlebot","addr'],
  ['is no list', '{"bot":"Googlebot"}'],
  ['has an entry without an address', '[{"bot":"Googlebot","verified":true,"until":1e15}]'],
])('bots are verified and stored again when the file %s', async (_, stored) => {
  const { candidates, file, verdictsOn } = await start({ stored });
  candidates.push(candidate('192.0.2.1'));
  await expect.poll(() => verdictsOn('192.0.2.1')).toMatchObject([{ verified: true }]);
  await expect.poll(() => readFile(file, 'utf8')).toMatch(/^\[\{"bot":"Googlebot","address":"192\.0\.2\.1",.*\}\]$/);
});

test('beyond 10,000 verified bots a verdict holds a minute, and impostors have their own 10,000', async () => {
  const until = Date.now() + 20 * HOUR_MS;
  const known = Array.from({ length: 10_000 }, (_, i) => `198.18.${i >> 8}.${i % 256}`);
  const stored = JSON.stringify(known.map((address) => ({ bot: 'Googlebot', address, verified: true, until })));
  const verify: VerifyBot = async ({ address }) => address !== '192.0.2.2';
  const { candidates, file, verdictsOn } = await start({ stored, verify });
  candidates.push(candidate('192.0.2.1'), candidate('192.0.2.2'));
  await expect.poll(() => verdictsOn('192.0.2.1')).toMatchObject([{ verified: true, seconds: 60 }]);
  await expect.poll(() => verdictsOn('192.0.2.2')).toMatchObject([{ verified: false, seconds: 3600 }]);
  await expect.poll(async () => JSON.parse(await readFile(file, 'utf8'))).toHaveLength(10_001);
});

test('a file that cannot be written is reported as such, and bots are verified all the same', async () => {
  const { candidates, warnings, verdictsOn } = await start({ name: 'bots.json/a file is no folder' });
  for (const address of ['192.0.2.1', '192.0.2.2']) {
    candidates.push(candidate(address));
    await expect.poll(() => verdictsOn(address)).toHaveLength(1);
    await expect.poll(() => warnings).toEqual(['verdicts on bots cannot be written']);
  }
});
