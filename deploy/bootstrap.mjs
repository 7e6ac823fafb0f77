// npm start and npm test on a machine with only Node and npm: installs dependencies and system programs, generates and
// builds, then runs the TypeScript entry point. Plain JavaScript for Node 20 with built-in modules only.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { line, step, Trouble } from './steps.mjs';
import { ensureSystemPrograms } from './system-programs.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const pnpm = 'pnpm@12.21.0';
/** The project's own Node, which runs TypeScript directly. */
const node = path.join(root, 'node_modules/.bin/node');

async function main([command, ...args]) {
  if (command !== 'start' && command !== 'test') throw new Trouble('usage: node deploy/bootstrap.mjs start | test');
  assertNodeVersion();
  const asksOnly = args.includes('--help');
  await ensureDependencies();
  if (asksOnly) return handOver('deploy/quickstart/main.ts', args);

  const forTests = command === 'test';
  await ensureSystemPrograms({ forTests, forLongTests: forTests && args.includes('--long') });
  await Promise.all([
    step('Prisma client', () => script('prisma/generate.ts'), { quiet: isCurrent }),
    step('Console and agent', () => script('deploy/build.ts', '--if-changed'), { quiet: isCurrent }),
  ]);
  return handOver(command === 'start' ? 'deploy/quickstart/main.ts' : 'deploy/test.ts', args);
}

function assertNodeVersion() {
  const [major] = process.versions.node.split('.').map(Number);
  if (major < 20) throw new Trouble(`Node ${process.versions.node} is too old: Node 20 or later is needed`);
}

async function ensureDependencies() {
  const stampFile = path.join(root, 'node_modules/.edgeloom-dependencies');
  const stamp = await hashOf(['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json']);
  const known = await readFile(stampFile, 'utf8').catch(() => '');
  if (known === stamp) return;
  const isTerminal = process.stdout.isTTY;
  if (isTerminal) line('Dependencies, by pnpm:');
  await step(isTerminal ? 'Dependencies' : 'Dependencies, by pnpm', async () => {
    const reporter = isTerminal ? [] : ['--reporter=append-only'];
    const install = ['-y', pnpm, 'install', '--frozen-lockfile', '--prefer-offline', ...reporter];
    // CI avoids pnpm's prompt before it replaces a node_modules of another layout.
    const env = { ...process.env, CI: 'true', npm_config_update_notifier: 'false' };
    // npx asks the registry about the pnpm that it has, without network for 75 seconds. What it has may be too old.
    let result = await collect('npx', ['--prefer-offline', ...install], { env, show: isTerminal });
    if (result.code !== 0) result = await collect('npx', install, { env, show: isTerminal });
    const { code, tail } = result;
    if (code !== 0) throw new Trouble(`pnpm install ended with ${code}\n${tail}`);
  });
  await writeFile(stampFile, stamp);
}

async function hashOf(files) {
  const hash = createHash('sha256').update(process.arch);
  for (const file of files) hash.update(await readFile(path.join(root, file)));
  return hash.digest('hex');
}

/** Runs a script and returns the end of its output. */
async function script(...args) {
  const { code, tail } = await collect(node, args, { env: process.env, show: false });
  if (code !== 0) throw new Trouble(tail);
  return tail;
}

const isCurrent = (output) => output.trimEnd().endsWith('current.');

/** Runs a program to its end and returns its last lines. */
async function collect(program, args, { env, show }) {
  const child = spawn(program, args, { cwd: root, env, stdio: show ? 'inherit' : ['ignore', 'pipe', 'pipe'] });
  let tail = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      tail = (tail + text).split('\n').slice(-40).join('\n');
    });
  }
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  return { code, tail };
}

/**
 * The two parent processes when started by npm (through a shell): a change means that one of them is gone. Without npm
 * there is nothing to watch, because a shell may exit before its background job.
 */
async function npmAbove() {
  if (process.env.npm_lifecycle_event === undefined) return '';
  const stat = await readFile(`/proc/${process.ppid}/stat`, 'utf8').catch(() => '');
  const [, parentOfParent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return `${process.ppid} ${parentOfParent}`;
}

async function stopWithNpm(child) {
  const ancestors = await npmAbove();
  while ((await npmAbove()) === ancestors) await setTimeout(500, undefined, { ref: false });
  child.kill('SIGTERM');
}

/**
 * Runs a program in the foreground, forwards signals, and exits with the parent: a killed npm must not leave a stack
 * running.
 */
async function handOver(file, args) {
  // Node's compile cache makes a second start faster.
  const env = { NODE_COMPILE_CACHE: path.join(root, '.data/cache/compiled'), ...process.env };
  const child = spawn(node, [file, ...args], { cwd: root, env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  // A terminal sends Ctrl-C to the child as well; the child handles the second signal like the first.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  void stopWithNpm(child);
  const [code, signal] = await new Promise((resolve) => child.once('exit', (...ended) => resolve(ended)));
  if (signal !== null) line(`${file} was ended by ${signal}`);
  return code ?? 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Trouble)) throw error;
  line(`\n${error.message}`);
  process.exitCode = 1;
}
