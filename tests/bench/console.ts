// Cost of a first visit of each console: requests, gzipped script, all bytes, and Lighthouse's mobile score (median of
// the rounds). The baseline is a bare page with the same libraries, built by the same Vite and served by the same API.
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import lighthouse from 'lighthouse';
import { chromium, type Page } from 'playwright-core';
import { buildAll, root } from '../../deploy/build.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { chromiumOptions, sessionCookies } from '../support/services/chromium.ts';
import { measurePageCost } from '../support/assertions/page-cost.ts';
import { freePort } from '../support/services/ports.ts';
import { startApp } from '../support/services/running-app.ts';
import { cloneDatabase, startServices } from '../support/services/start-services.ts';
import { testDir } from '../support/services/test-dir.ts';

const run = promisify(execFile);
const consoleDir = path.join(root, 'apps/console');
const {
  rounds,
  pages: most,
  json,
} = parseArgs({
  options: {
    /** Lighthouse runs per page. */
    rounds: { type: 'string', default: '3' },
    pages: { type: 'string', default: '7' },
    json: { type: 'string', default: '.data/bench/console.json' },
  },
}).values;

interface Scene {
  name: string;
  address: string;
  /** The signed-in account. */
  account?: SignedInAccount;
}

const dir = await testDir();
const services = await startServices();
try {
  await buildAll({ ifChanged: true, only: 'console' });
  const settings = { LOG_REQUESTS: 'false', CNAME_SUFFIX: 'cdn.example.net' };
  const database = await cloneDatabase(services);
  const app = await startApp(services, database, { ...settings, CONSOLE_DIR: path.join(consoleDir, 'dist') });
  const bare = await startApp(services, database, { ...settings, CONSOLE_DIR: await buildBarePage() });
  try {
    const site = await app.build.site();
    const accounts = { user: site.owner, client: site.client, admin: await app.build.admin() };
    const baseOf = { user: app.url, client: app.url, admin: app.adminUrl };
    const scenes = (['user', 'client', 'admin'] as const).flatMap((kind): Scene[] => [
      { name: `${kind}, sign-in`, address: `${baseOf[kind]}/${kind}/login` },
      { name: `${kind}, dashboard`, address: `${baseOf[kind]}/${kind}/dashboard`, account: accounts[kind] },
    ]);
    scenes.unshift({ name: 'bare page', address: `${bare.url}/user/login` });
    const rows = [];
    for (const scene of scenes.slice(0, Number(most))) rows.push(await measure(scene));
    await report(rows);
  } finally {
    await Promise.all([app.close(), bare.close()]);
  }
} finally {
  await services.stop();
  await rm(dir, { recursive: true, force: true });
}

async function buildBarePage(): Promise<string> {
  const outDir = path.join(dir, 'bare');
  const vite = path.join(consoleDir, 'node_modules/vite/bin/vite.js');
  const args = [vite, 'build', 'bench', '--outDir', outDir, '--logLevel', 'error'];
  await run(process.execPath, args, { cwd: consoleDir, env: { ...process.env, NODE_ENV: 'production' } });
  return outDir;
}

async function measure({ name, address, account }: Scene) {
  const port = await freePort();
  const context = await chromium.launchPersistentContext(path.join(dir, `profile-${port}`), {
    ...chromiumOptions,
    args: [...chromiumOptions.args, `--remote-debugging-port=${port}`],
  });
  try {
    if (account) await context.addCookies(sessionCookies(address, account));
    const page = await context.newPage();
    const { requests, chunks, scriptKilobytes, totalKilobytes } = await measurePageCost(page, address, isReady);
    const browser = await context.newCDPSession(page);
    const scores: number[] = [];
    for (let round = 0; round < Number(rounds); round += 1) {
      await browser.send('Network.clearBrowserCache');
      scores.push(await score(address, port));
    }
    const median = scores.toSorted((a, b) => a - b)[Math.floor(scores.length / 2)];
    return { name, requests: requests.length, chunks, scriptKilobytes, totalKilobytes, lighthouse: median, scores };
  } finally {
    await context.close();
  }
}

/** Every page here has a heading. */
async function isReady(page: Page) {
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** Score from 0 to 100. Cookies of the session stay. */
async function score(address: string, port: number): Promise<number> {
  const result = await lighthouse(address, {
    port,
    onlyCategories: ['performance'],
    disableStorageReset: true,
    logLevel: 'silent',
  });
  const found = result?.lhr.categories['performance']?.score;
  if (typeof found !== 'number') throw new Error(`Lighthouse has no score of ${address}`);
  return Math.round(found * 100);
}

async function report(rows: Awaited<ReturnType<typeof measure>>[]) {
  const heads = ['page', 'requests', 'chunks', 'script KB gzip', 'all KB sent', 'Lighthouse mobile'];
  const cells = rows.map((row) => [
    row.name,
    row.requests,
    row.chunks,
    row.scriptKilobytes,
    row.totalKilobytes,
    `${row.lighthouse} (${row.scores.join(' ')})`,
  ]);
  for (const line of [heads, ...cells])
    console.log(line.map((cell, i) => (i === 0 ? String(cell).padEnd(20) : String(cell).padStart(18))).join(''));
  const [{ model } = { model: 'unknown' }] = cpus();
  const machine = { cpu: model, cores: cpus().length, memoryBytes: totalmem(), node: process.version };
  await mkdir(path.dirname(json), { recursive: true });
  await writeFile(json, `${JSON.stringify({ machine, rows }, null, 2)}\n`);
  console.log(`Written to ${json}`);
}
