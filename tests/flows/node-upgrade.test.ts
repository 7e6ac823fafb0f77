// Upgrades of a serving node, with the real agent under its launcher, nginx and NATS.
import { randomUUID } from 'node:crypto';
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { access, chmod, mkdir, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { layoutOf } from '@edgeloom/agent/layout.ts';
import { WAF_FILE } from '@edgeloom/contract/edge/waf-pack.ts';
import { packText } from '@edgeloom/waf-rules/pack.ts';
import { currentWafPack } from '@edgeloom/waf-rules/write-pack.ts';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { serveReleases, createAgentHome, releaseMaker, TOKEN } from '../support/builders/agent-releases.ts';
import type { TestRelease, ReleaseMaker } from '../support/builders/agent-releases.ts';
import { wafModuleDoc } from '../support/builders/waf.ts';
import { casesOfRun, longTest } from '../support/builders/long-run.ts';
import { get, eventuallyStarted, startConnectedNode, waitForSync } from '../support/services/connected-node.ts';
import type { ConnectedNode } from '../support/services/connected-node.ts';
import { findProgram } from '../../deploy/services/program.ts';
import { restartableNats } from '../support/services/restartable-nats.ts';
import { startLoad } from '../support/assertions/steady-load.ts';
import { testDir } from '../support/services/test-dir.ts';

// Processes start slowly on a machine that runs other tests.
vi.setConfig({ testTimeout: 180_000 });

const run = promisify(execFile);

let make: ReleaseMaker;
let one: TestRelease;
beforeAll(async () => {
  make = await releaseMaker();
  one = await make.agent('1.0.0');
});
afterAll(() => make.stop());

interface Upgrading extends ConnectedNode {
  home: string;
  /** Resolves with the node's response to the order. Progress is in `peer.upgrades`. */
  order: (release: TestRelease, more?: object) => ReturnType<ConnectedNode['peer']['command']>;
  /** The last state of the last order. */
  outcome: () => Promise<{ state: string; message: string }>;
  current: () => Promise<string>;
}

/** A node of release 1.0.0. Its nginx fails the check of a tree with a file `refuse`. */
async function node({ seconds = 60, natsUrl }: { seconds?: number; natsUrl?: string } = {}): Promise<Upgrading> {
  const { home, launcher } = await createAgentHome(one);
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const [dir, nginx] = [await testDir(), path.join(home, 'nginx')];
  const real = await findProgram('nginx');
  await writeFile(
    nginx,
    `#!/bin/sh
for at in ${home}/releases/$(cat ${home}/trial/to 2>/dev/null || echo none)/refuse ${dir}/packs/geo/current/refuse; do
  if [ -e "$at" ]; then case " $* " in *' -t '*) echo 'nginx: [emerg] this is refused' >&2; exit 1 ;; esac; fi
done
exec ${real} "$@"
`,
  );
  await chmod(nginx, 0o755);
  const standing = await startConnectedNode({
    dir,
    nginx,
    program: { command: launcher, args: [] },
    restartOnExit: true,
    ...(natsUrl !== undefined && { peer: { natsUrl } }),
    env: { EDGELOOM_RELEASE_KEYS: make.keysFile, EDGELOOM_TRIAL_SECONDS: String(seconds) },
  });
  const { peer } = standing;
  let upgradeID = '';
  return {
    ...standing,
    home,
    order: ({ signed }, more = {}) => {
      upgradeID = randomUUID();
      return peer.command('upgrade', { upgradeID, release: signed, control: peer.url, token: TOKEN, ...more });
    },
    outcome: () =>
      eventuallyStarted(() => {
        const last = peer.upgrades.filter((report) => report.upgradeID === upgradeID).at(-1);
        if (!['complete', 'failed', 'rolledBack'].includes(last?.state ?? ''))
          throw new Error(
            `${JSON.stringify(peer.upgrades)}\n${standing.agent.log.map((line) => JSON.stringify(line)).join('\n')}`,
          );
        return { state: last?.state ?? '', message: last?.message ?? '' };
      }),
    current: async () => path.basename(await readlink(path.join(home, 'current'))),
  };
}

/** Waits for a heartbeat with this version. */
const says = ({ peer }: ConnectedNode, version: string) =>
  eventuallyStarted(() => expect(peer.heartbeats.at(-1)?.version).toBe(version));

/** Asserts that the node is unchanged. */
async function untouched(it: Upgrading, version = '1.0.0') {
  await says(it, version);
  expect((await get(it.ports.http, 'www.example.com')).status).toBe(200);
}

/** The Lua code that nginx has loaded. */
const luaOf = ({ agent }: ConnectedNode) => readFile(path.join(layoutOf(agent.dir).conf, 'current/nginx.conf'), 'utf8');

test('an upgrade and a rollback are applied, and no visitor notices', async () => {
  const it = await node();
  const { peer, ports, origin, agent } = it;
  const two = await make.agent('1.1.0');
  const from = handOutInPieces(peer, two);
  const large = 6_000_000;
  origin.on('/large', { body: Buffer.alloc(large, 'x') });
  origin.on('/upload', ({ body }) => ({ body: String(body.length) }));
  const load = startLoad(ports, 'www.example.com');
  onTestFinished(async () => void (await load.stop()));
  await eventuallyStarted(() => expect(load.asked()).toBeGreaterThan(100));
  const long = [load.download('/large', large), load.upload('/upload', 100)];
  const pid = await agent.nginxPid();
  expect(await it.order(two)).toMatchObject({ ok: true, error: null });
  expect(await it.outcome()).toEqual({ state: 'complete', message: '' });
  await says(it, '1.1.0');
  expect(peer.heartbeats.at(-1)).toMatchObject({ release: two.sha256, packs: {} });
  // No byte was downloaded twice.
  expect(from.length).toBeGreaterThan(3);
  expect(from).toEqual([...new Set(from)].sort((a, b) => a - b));
  expect(await it.current()).toBe(two.name);
  expect(await luaOf(it)).toContain(`releases/${two.name}/lua`);

  const older = await it.order(one);
  expect(older).toMatchObject({ ok: false, error: 'agent 1.0.0 is older than 1.1.0, which is in use' });
  expect(await it.order(one, { rollback: true })).toMatchObject({ ok: true });
  expect(await it.outcome()).toEqual({ state: 'complete', message: '' });
  await says(it, '1.0.0');
  expect(await luaOf(it)).toContain(`releases/${one.name}/lua`);
  expect(await it.order(one)).toMatchObject({ ok: true });
  expect(await it.outcome()).toEqual({ state: 'complete', message: 'already in use' });

  expect(await agent.nginxPid()).toBe(pid);
  await Promise.all(long);
  expect(await load.stop()).toEqual([]);
});

/** Cuts the connection repeatedly. Returns the start offsets of the requests. */
function handOutInPieces(peer: ConnectedNode['peer'], { archive }: TestRelease): number[] {
  const from: number[] = [];
  peer.onArchive = (request, response) => {
    const start = Number(new URL(request.url ?? '', peer.url).searchParams.get('from'));
    from.push(start);
    createReadStream(archive, { start, end: start + 100_000 })
      .on('end', () => setTimeout(() => response.destroy(), 20))
      .pipe(response, { end: false });
  };
  return from;
}

/** Prepends code to the agent. */
const withFirst =
  (text: string, extra: Record<string, string> = {}, command = 'run') =>
  async (dir: string) => {
    const bundle = path.join(dir, 'agent.mjs');
    await writeFile(bundle, `if (process.argv[2] === '${command}') {\n${text}\n}\n${await readFile(bundle, 'utf8')}`);
    for (const [file, content] of Object.entries(extra)) await writeFile(path.join(dir, file), content);
  };

test('a release that does not serve is rolled back automatically with the reason', async () => {
  const it = await node();
  const { agent, ports } = it;
  const pid = await agent.nginxPid();
  const load = startLoad(ports, 'www.example.com');
  onTestFinished(async () => void (await load.stop()));
  const cases: [string, (dir: string) => Promise<void>, RegExp][] = [
    ['1.1.0', withFirst('process.exit(7)'), /^exited 3 times before it was healthy; see the log/],
    ['1.2.0', withFirst('', { refuse: '' }), /^nginx does not serve the documents: this is refused$/],
    ['1.3.0', withFirst("process.env.EDGELOOM_NGINX = '/nowhere/nginx'"), /^the agent exited: .*\/nowhere\/nginx/],
  ];
  for (const [version, change, why] of casesOfRun(cases, 3, 1)) {
    const bad = await make.agent(version, change);
    serveReleases(it.peer, bad);
    expect(await it.order(bad)).toMatchObject({ ok: true });
    const { state, message } = await it.outcome();
    expect([version, state, message]).toEqual([version, 'rolledBack', expect.stringMatching(why)]);
    await untouched(it);
    expect(await it.current()).toBe(one.name);
    await eventuallyStarted(async () => expect(await luaOf(it)).toContain(`releases/${one.name}/lua`));
  }
  expect(await agent.nginxPid()).toBe(pid);
  expect(await load.stop()).toEqual([]);
  await eventuallyStarted(async () => expect(await readdir(path.join(it.home, 'releases'))).toEqual([one.name]));
});

test('a release that hangs is rolled back', async () => {
  const it = await node({ seconds: 2 });
  const bad = await make.agent('1.1.0', withFirst('await new Promise((resolve) => setTimeout(resolve, 1e9))'));
  serveReleases(it.peer, bad);
  expect(await it.order(bad)).toMatchObject({ ok: true });
  expect(await it.outcome()).toEqual({ state: 'rolledBack', message: 'not healthy within 2 s: no state reported' });
  await untouched(it);
});

test('an invalid release is rejected, and the node is unchanged', async () => {
  const it = await node();
  const { peer } = it;
  const began = peer.heartbeats.at(-1)?.startedAt;
  const two = await make.agent('1.1.0');
  const stranger = await it.order(await make.signedByUnknownKey('1.1.0'));
  expect(stranger).toMatchObject({ ok: false, error: 'no key that is trusted here has signed it' });
  const changed = { ...two, signed: { ...two.signed, manifest: two.signed.manifest.replace('1.1.0', '9.1.0') } };
  expect(await it.order(changed)).toMatchObject({ ok: false, error: 'no key that is trusted here has signed it' });
  const old = await it.order(await make.agent('0.9.0'), { rollback: true });
  expect(old).toMatchObject({ ok: false, error: expect.stringContaining('not one that this node has used and kept') });

  const bytes = await readFile(two.archive);
  const answer = (status: number, body: Buffer | string) => {
    peer.onArchive = (_, response) => void response.writeHead(status).end(body);
  };
  const fails = async (release: TestRelease, why: RegExp) => {
    expect(await it.order(release)).toMatchObject({ ok: true });
    expect(await it.outcome()).toEqual({ state: 'failed', message: expect.stringMatching(why) });
  };
  answer(200, Buffer.from(bytes).fill(0, 100, 200));
  await fails(two, /^the hash of the archive differs from the signed one$/);
  answer(200, Buffer.concat([bytes, bytes]));
  await fails(two, /^the archive is larger than the signed one$/);
  answer(401, '');
  await fails(two, /^the control plane refused the archive: HTTP 401$/);
  const made = async (release: TestRelease, why: RegExp) => {
    serveReleases(peer, release);
    await fails(release, why);
  };
  await made(await make.raw('1.2.0', ['../outside']), /^a path in the archive leaves its folder: \.\.\/outside$/);
  await made(await make.raw('1.2.0', ['link']), /^the archive contains link, a SymbolicLink/);
  const [unreadable, unlike, unfit] = await Promise.all([
    make.agent('1.3.0', (dir) => writeFile(path.join(dir, 'agent.mjs'), 'this is no program')),
    make.agent('1.3.0', async (dir) => {
      const file = path.join(dir, 'agent.mjs');
      await writeFile(file, (await readFile(file, 'utf8')).replaceAll('1.3.0', '1.2.9'));
    }),
    make.agent('1.3.0', withFirst("console.error('a document is too new'); process.exit(1)", {}, 'check')),
  ]);
  await made(unreadable, /^the release does not start: /);
  await made(unlike, /^the release does not start: the archive contains version 1\.2\.9$/);
  await made(unfit, /^the release rejects documents of this node: a document is too new$/);

  await untouched(it);
  expect(peer.heartbeats.at(-1)?.startedAt).toBe(began);
  expect(await readdir(path.join(it.home, 'releases'))).toEqual(expect.arrayContaining([one.name]));
  await expect(access(path.join(it.home, 'releases/outside'))).rejects.toThrow('ENOENT');
});

test('a full disk is reported before the download', async () => {
  const it = await node();
  const packs = path.join(it.agent.dir, 'packs');
  await mkdir(packs);
  await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', packs]);
  onTestFinished(async () => void (await run('umount', ['-l', packs])));
  const pack = await make.pack('geo', '1.0.0', { rules: 'some' });
  const { asked } = serveReleases(it.peer, pack);
  expect(await it.order(pack)).toMatchObject({ ok: true });
  const why = expect.stringMatching(/packs\/geo has 1 MB free, \d+ MB are needed$/);
  expect(await it.outcome()).toEqual({ state: 'failed', message: why });
  expect(asked).toEqual([]);
  await untouched(it);
});

test('a node that is killed during download and during trial ends in the ordered state', async () => {
  const it = await node();
  const { agent, peer, home } = it;
  const hold = path.join(home, 'hold');
  await writeFile(hold, '');
  const waits = `const { existsSync } = await import('node:fs'); while (existsSync('${hold}')) await new Promise((resolve) => setTimeout(resolve, 50));`;
  const two = await make.agent('1.1.0', withFirst(waits));
  const { asked } = serveReleases(peer, two);
  const whole = peer.onArchive;
  const half = Math.floor((await readFile(two.archive)).length / 2);
  peer.onArchive = (_, response) => {
    response.writeHead(200);
    createReadStream(two.archive, { end: half - 1 }).pipe(response, { end: false });
  };
  expect(await it.order(two)).toMatchObject({ ok: true });
  const part = path.join(home, `releases/${two.name}.part`);
  await eventuallyStarted(async () => expect((await stat(part)).size).toBe(half));
  peer.onArchive = whole;
  agent.kill('SIGKILL');
  await eventuallyStarted(async () =>
    expect(await readFile(path.join(home, 'trial/starts'), 'utf8')).toBe('started\n'),
  );
  expect(asked).toEqual([{ sha256: two.sha256, from: half }]);
  expect((await get(it.ports.http, 'www.example.com')).status).toBe(200);

  // Simulates a power failure.
  const nginx = await agent.nginxPid();
  await agent.end('SIGKILL');
  process.kill(nginx, 'SIGKILL');
  await rm(hold);
  agent.start();
  expect(await it.outcome()).toEqual({ state: 'complete', message: '' });
  await says(it, '1.1.0');
  expect((await get(it.ports.http, 'www.example.com')).status).toBe(200);
  // A report without a received response is sent again.
  const states = peer.upgrades.map(({ state }) => state).filter((state, i, all) => state !== all[i - 1]);
  expect(states).toEqual(['fetching', 'switching', 'complete']);
});

test('a data pack is installed, rejected when nginx rejects it, and rolled back', async () => {
  const it = await node();
  const [first, bad, second] = await Promise.all([
    make.pack('geo', '1.0.0', { rules: 'one' }),
    make.pack('geo', '1.1.0', { rules: 'two', refuse: '' }),
    make.pack('geo', '1.2.0', { rules: 'three' }),
  ]);
  serveReleases(it.peer, first, bad, second);
  const rules = () => readFile(path.join(it.agent.dir, 'packs/geo/current/rules'), 'utf8');
  const load = startLoad(it.ports, 'www.example.com');
  onTestFinished(async () => void (await load.stop()));
  const steps: [TestRelease, object, string, string, string][] = [
    [first, {}, 'complete', '', 'one'],
    [bad, {}, 'rolledBack', 'this is refused', 'one'],
    [second, {}, 'complete', '', 'three'],
    [first, { rollback: true }, 'complete', '', 'one'],
  ];
  for (const [pack, more, state, message, text] of steps) {
    expect(await it.order(pack, more)).toMatchObject({ ok: true });
    expect(await it.outcome()).toEqual({ state, message });
    expect(await rules()).toBe(text);
  }
  await eventuallyStarted(() => expect(it.peer.heartbeats.at(-1)?.packs).toEqual({ geo: '1.0.0' }));
  expect(await load.stop()).toEqual([]);
  await untouched(it);
});

test('a WAF pack changes the rules of nginx, and one with an invalid pattern is rolled back', async () => {
  const it = await node();
  const own = await currentWafPack();
  const patch = {
    id: 'product-patch',
    category: 'product',
    points: 5,
    level: 1,
    alone: true,
    targets: ['target'],
  } as const;
  const packOf = (version: string, pattern: string) => {
    const rules = [...own.rules, { ...patch, targets: [...patch.targets], pattern }];
    return make.pack('waf', version, { [WAF_FILE]: packText({ ...own, version, rules }) });
  };
  const [first, invalid, second, junk, older] = await Promise.all([
    packOf('2099.1.0', '^/first'),
    packOf('2099.2.0', '('),
    packOf('2099.3.0', '^/second'),
    make.pack('waf', '2099.4.0', { [WAF_FILE]: 'no pack' }),
    make.pack('waf', '2099.5.0', { [WAF_FILE]: packText({ ...own, version: '1.0.0' }) }),
  ]);
  serveReleases(it.peer, first, invalid, second, junk, older);
  const firewall = wafModuleDoc();
  it.peer.store(firewall, { ...it.www, modules: { waf: firewall.id } });
  await waitForSync(it);
  const statuses = async () => {
    const replies = ['/first', '/second'].map((at) => get(it.ports.http, 'www.example.com', at));
    return (await Promise.all(replies)).map(({ status }) => status);
  };
  const passed = (await statuses())[0] ?? 0;
  const invalidPattern = /^nginx cannot read the waf pack: the pattern of product-patch is invalid/;
  const newerRules = /^the waf pack has the rules 1\.0\.0, and this agent's own rules \S+ are newer$/;
  const steps: [TestRelease, object, string, RegExp, number[]][] = [
    [first, {}, 'complete', /^$/, [403, passed]],
    [invalid, {}, 'rolledBack', invalidPattern, [403, passed]],
    [second, {}, 'complete', /^$/, [passed, 403]],
    [junk, {}, 'failed', /^the waf pack is refused: it is torn or no JSON$/, [passed, 403]],
    [older, {}, 'rolledBack', newerRules, [passed, 403]],
    [first, { rollback: true }, 'complete', /^$/, [403, passed]],
  ];
  for (const [pack, more, state, message, expected] of steps) {
    expect(await it.order(pack, more)).toMatchObject({ ok: true });
    expect(await it.outcome()).toEqual({ state, message: expect.stringMatching(message) });
    await eventuallyStarted(async () => expect(await statuses()).toEqual(expected));
  }
  await untouched(it);

  // The pack is damaged when the machine starts: nginx serves with the agent's own rules, and the node reports it.
  const nginx = await it.agent.nginxPid();
  await it.agent.end('SIGKILL');
  process.kill(nginx, 'SIGKILL');
  await writeFile(path.join(it.agent.dir, 'packs/waf/current', WAF_FILE), '{');
  it.agent.start();
  const error = 'nginx cannot read the waf pack: it is torn or no JSON';
  await eventuallyStarted(() => expect(it.peer.heartbeats.at(-1)?.error).toBe(error));
  expect(await statuses()).toEqual([passed, passed]);
});

longTest('a release that serves without a control plane stays, and reports when connected', async () => {
  const { url, start } = await restartableNats();
  const server = await start();
  // The new agent must report within this time, also on a slow machine.
  const it = await node({ seconds: 10, natsUrl: url });
  const two = await make.agent('1.1.0');
  serveReleases(it.peer, two);
  const whole = it.peer.onArchive;
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  it.peer.onArchive = async (request, response) => {
    await server.stop();
    resolve();
    await whole(request, response);
  };
  expect(await it.order(two)).toMatchObject({ ok: true });
  await gone;
  const alive = () => readFile(path.join(it.home, 'trial/alive'), 'utf8');
  // Longer than several trials.
  await eventuallyStarted(async () => expect((await alive()).length).toBeGreaterThan(28));
  expect((await get(it.ports.http, 'www.example.com')).status).toBe(200);
  await start();
  expect(await it.outcome()).toEqual({ state: 'complete', message: '' });
  await says(it, '1.1.0');
});

test('an agent without a launcher reports that it cannot be upgraded, but its packs can', async () => {
  const { peer } = await startConnectedNode({ env: { EDGELOOM_RELEASE_KEYS: make.keysFile } });
  const order = ({ signed }: TestRelease) =>
    peer.command('upgrade', { upgradeID: randomUUID(), release: signed, control: peer.url, token: TOKEN });
  expect(await order(one)).toMatchObject({
    ok: false,
    error: expect.stringContaining('was not started by its launcher'),
  });
  const pack = await make.pack('geo', '2026.11.1', { 'country.mmdb': 'data' });
  serveReleases(peer, pack);
  expect(await order(pack)).toMatchObject({ ok: true });
  await eventuallyStarted(() => expect(peer.upgrades.at(-1)?.state).toBe('complete'));
});
