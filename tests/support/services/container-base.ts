// Builds a local base image in place of the registry images of docker-compose.yml, for machines without registry
// access:
// Debian 12 with Node, npm, PostgreSQL, nats-server and all packages that the two builds fetch.
// `node tests/support/services/container-base.ts` builds it once per lock file; needs root, Docker and debootstrap.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { debianPackages } from '@edgeloom/api/install/scripts.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../../..');
const MIRROR = 'http://deb.debian.org/debian';
const PNPM = 'pnpm@12.21.0';
/** Packages that the PostgreSQL and NATS images provide. */
const base = ['ca-certificates', 'dpkg-dev', 'nats-server', 'postgresql-15', 'wget'];

const lockHash = createHash('sha256')
  .update(readFileSync(path.join(root, 'pnpm-lock.yaml')))
  .digest('hex');
export const containerBase = `edgeloom-test/container-base:${lockHash.slice(0, 12)}`;

/** The compose program with its first arguments, or null when not installed. */
export async function findCompose(): Promise<[string, ...string[]] | null> {
  const isThere = (program: string, ...args: string[]) =>
    run(program, [...args, 'version']).then(
      () => true,
      () => false,
    );
  if (await isThere('docker', 'compose')) return ['docker', 'compose'];
  return (await isThere('docker-compose')) ? ['docker-compose'] : null;
}

/** Why the container tests must be skipped, or null. */
export async function containerSkipReason(): Promise<string | null> {
  try {
    await run('docker', ['info']);
  } catch {
    return 'no Docker daemon';
  }
  if ((await findCompose()) === null) return 'no docker compose';
  return run('docker', ['image', 'inspect', containerBase]).then(
    () => null,
    () => 'node tests/support/services/container-base.ts makes their base image',
  );
}

async function buildImage(): Promise<void> {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-base-'));
  const files = path.join(dir, 'root');
  const shell = (script: string) => runVerbose('sh', ['-euc', script, 'sh', files]);
  try {
    await runVerbose('debootstrap', ['--variant=minbase', `--include=${base.join(',')}`, 'bookworm', files, MIRROR]);
    await shell(`chroot "$1" sh -euc '
      rm -f /var/cache/apt/archives/*.deb
      apt-get update
      apt-get install -y --download-only --no-install-recommends ${debianPackages.join(' ')}
      rm -rf /var/lib/apt/lists/*
      mkdir -p /srv/packages
      mv /var/cache/apt/archives/*.deb /srv/packages
      cd /srv/packages && dpkg-scanpackages --multiversion . > Packages
      useradd --create-home --uid 1000 node'`);
    await writeFile(path.join(files, 'etc/apt/sources.list'), 'deb [trusted=yes] file:/srv/packages ./\n');
    await addNode(files);
    await addPackages(files);
    await shell(`tar -C "$1" -c . | docker import - ${containerBase}`);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function addNode(files: string): Promise<void> {
  await cp(await realpath(path.join(root, 'node_modules/.bin/node')), path.join(files, 'usr/local/bin/node'));
  const { stdout } = await run('sh', ['-c', 'command -v npm']);
  const npm = path.dirname(path.dirname(await realpath(stdout.trim())));
  const to = path.join(files, 'usr/local/lib/node_modules/npm');
  await cp(npm, to, { recursive: true, verbatimSymlinks: true });
  for (const name of ['npm', 'npx'])
    await writeFile(
      path.join(files, 'usr/local/bin', name),
      `#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/${name}-cli.js "$@"\n`,
      { mode: 0o755 },
    );
}

/** Stores pnpm and every package of the lock file. */
async function addPackages(files: string): Promise<void> {
  const [cache, store, trial] = ['srv/npm-cache', 'srv/pnpm-store', 'srv/trial'].map((name) => path.join(files, name));
  if (cache === undefined || store === undefined || trial === undefined) throw new Error('three folders are three');
  await mkdir(trial);
  for (const name of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) await cp(path.join(root, name), path.join(trial, name));
  const env = { ...process.env, npm_config_cache: cache, CI: 'true' };
  await runVerbose('npx', ['-y', PNPM, 'fetch', '--store-dir', store, '--ignore-scripts'], { cwd: trial, env });
  // The npm package "node" downloads its binary on install.
  const binary = `node-${process.platform}-${process.arch}@${process.versions.node}`;
  await cp(path.join(root, 'node_modules/node/package.json'), path.join(trial, 'package.json'));
  await runVerbose('npm', ['install', '--no-save', '--ignore-scripts', binary], { cwd: trial, env });
  await rm(trial, { recursive: true });
  if ((await readdir(store)).length === 0) throw new Error('pnpm has fetched nothing');
  await writeFile(path.join(files, 'usr/local/etc/npmrc'), 'cache=/srv/npm-cache\noffline=true\n');
  await mkdir(path.join(files, 'root/.config/pnpm'), { recursive: true });
  // A minimum release age would need the registry.
  const config = 'storeDir: /srv/pnpm-store\nminimumReleaseAge: 0\n';
  await writeFile(path.join(files, 'root/.config/pnpm/config.yaml'), config);
}

/** Runs a program with its output on the terminal. */
async function runVerbose(program: string, args: readonly string[], options: object = {}): Promise<void> {
  const child = spawn(program, args, { stdio: 'inherit', ...options });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}`);
}

if (import.meta.main) await buildImage();
