// Runs of tests that are killed leave nothing behind. They have a network and IPC namespace of their own, in which
// whatever is found is theirs. It has no way out, so the runs also need none.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { testDir } from '../support/services/test-dir.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../..');
const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
const file = 'tests/flows/every-program.long.test.ts';
const aMinute = { within: 60_000 };
const options = ['--maxWorkers=1', '--disable-console-intercept'];

/** Lines of a run of every-program.long.test.ts, after which it is killed. vitest prints the first. */
const moments = [
  'RUN',
  'a control plane starts',
  'a node starts',
  'a node serves',
  'a PostgreSQL of its own starts',
  'a browser starts',
  'a page opens',
  'a machine starts',
  'a network of its own starts',
  'everything runs',
];

const namedNamespaces = () => readdir('/run/netns').catch(() => []);
const before = await namedNamespaces();

/** The namespaces live as long as their `cat`. */
const apart = 'ip link set lo up; mount -t tmpfs tmpfs /dev/shm; echo ready; exec cat';

describe.skipIf(process.getuid?.() !== 0)('a killed run (needs root)', () => {
  let holder: ChildProcess;
  let place: string;

  beforeAll(async () => {
    place = await testDir();
    const child = spawn('unshare', ['--net', '--ipc', '--mount', 'sh', '-c', apart], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    holder = child;
  });
  afterAll(async () => {
    const ended = once(holder, 'exit');
    holder.stdin?.end();
    await ended;
  });

  const inside = () => ['-t', String(holder.pid), '--net', '--ipc', '--mount', `--wd=${root}`];
  const output = async (...command: string[]) => (await run('nsenter', [...inside(), ...command])).stdout;

  /** nsenter becomes this program, so the child is the main process. */
  function start(...program: string[]) {
    const child = spawn('nsenter', [...inside(), process.execPath, ...program], {
      env: { ...process.env, NO_COLOR: '1', TMPDIR: place },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const started = { child, output: '', ended: once(child, 'exit') };
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (started.output += chunk.toString()));
    return started;
  }

  async function killAt(moment: string, started: ReturnType<typeof start>) {
    await Promise.race([
      eventually(() => expect(started.output).toContain(moment), { within: 240_000 }),
      started.ended.then(() => expect.fail(`It ended before "${moment}":\n${started.output}`)),
    ]);
    started.child.kill('SIGKILL');
    await started.ended;
  }

  async function processesInside(): Promise<string[]> {
    const namespaceOf = (pid: string | number) => readlink(`/proc/${pid}/ns/ipc`).catch(() => null);
    const own = await namespaceOf(holder.pid ?? 0);
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && name !== String(holder.pid));
    const namespaces = await Promise.all(pids.map(namespaceOf));
    const found = pids.filter((_, i) => namespaces[i] === own);
    return Promise.all(found.map(async (pid) => (await run('ps', ['-o', 'args=', '-p', pid])).stdout.slice(0, 200)));
  }

  const left = async () => ({
    processes: await processesInside(),
    files: await readdir(place),
    namespaces: await namedNamespaces(),
    memory: [
      ...(await output('ls', '/dev/shm')).split('\n'),
      ...(await output('ipcs', '-m')).split('\n').slice(3),
    ].filter((line) => line !== ''),
    mounts: (await output('cat', '/proc/self/mounts')).split('\n').filter((line) => line.includes(place)),
    ports: await output('ss', '-Hlntu'),
    firewall: await output('nft', 'list', 'tables'),
  });
  const nothing = {
    processes: [],
    files: [],
    namespaces: before,
    memory: [],
    mounts: [],
    ports: '',
    firewall: '',
  };

  test.each(moments)('leaves nothing behind after "%s"', { timeout: 300_000 }, async (moment) => {
    await killAt(moment, start(vitest, 'run', file, ...options));
    await eventually(async () => expect(await left()).toEqual(nothing), aMinute);
  });

  test('leaves nothing behind if npm test is killed, which started vitest', { timeout: 300_000 }, async () => {
    const settings = JSON.stringify({ root, folder: await testDir(), args: options });
    const code = `
      import { runWithSecondTry } from ${JSON.stringify(path.join(root, 'deploy/test-runs.ts'))};
      await runWithSecondTry(${settings}, [${JSON.stringify(file)}]);`;
    await killAt('a node serves', start('--input-type=module-typescript', '-e', code));
    await eventually(async () => expect(await left()).toEqual(nothing), aMinute);
  });

  test('does not make the next one fail, which needs no network', { timeout: 300_000 }, async () => {
    const started = start(vitest, 'run', file, ...options);
    expect(await started.ended, started.output).toEqual([0, null]);
    await eventually(async () => expect(await left()).toEqual(nothing), aMinute);
  });
});
