// A stand-in for the images that docker-compose.yml names, where no registry can be reached: Debian 12 with Node, npm, PostgreSQL
// and nats-server, and with everything that the two builds fetch. `node tests/support/container-base.ts` makes it, once for each
// lock file, within some minutes; needs root, a Docker daemon and debootstrap.
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
const root = path.join(import.meta.dirname, '../..');
const MIRROR = 'http://deb.debian.org/debian';
const PNPM = 'pnpm@12.21.0';
/** Beside Node: what the images of PostgreSQL and NATS bring. */
const base = ['ca-certificates', 'dpkg-dev', 'nats-server', 'postgresql-15', 'wget'];

const lockHash = createHash('sha256')
  .update(readFileSync(path.join(root, 'pnpm-lock.yaml')))
  .digest('hex');
export const containerBase = `edgeloom-test/container-base:${lockHash.slice(0, 12)}`;

/** The program and its first arguments; null where there is none. */
export async function findCompose(): Promise<[string, ...string[]] | null> {
  const isThere = (program: string, ...args: string[]) =>
    run(program, [...args, 'version']).then(
      () => true,
      () => false,
    );
  if (await isThere('docker', 'compose')) return ['docker', 'compose'];
  return (await isThere('docker-compose')) ? ['docker-compose'] : null;
}

/** Why the containers cannot be tried; null where they can. */
export async function withoutContainerBase(): Promise<string | null> {
  try {
    await run('docker', ['info']);
  } catch {
    return 'no Docker daemon';
  }
  if ((await findCompose()) === null) return 'no docker compose';
  return run('docker', ['image', 'inspect', containerBase]).then(
    () => null,
    () => 'node tests/support/container-base.ts makes their base image',
  );
}

async function make(): Promise<void> {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-base-'));
  const files = path.join(dir, 'root');
  const shell = (script: string) => show('sh', ['-euc', script, 'sh', files]);
  try {
    await show('debootstrap', ['--variant=minbase', `--include=${base.join(',')}`, 'bookworm', files, MIRROR]);
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
    await bringNode(files);
    await bringPackages(files);
    await shell(`tar -C "$1" -c . | docker import - ${containerBase}`);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function bringNode(files: string): Promise<void> {
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

/** pnpm itself, and its store with all that the lock file names. */
async function bringPackages(files: string): Promise<void> {
  const [cache, store, trial] = ['srv/npm-cache', 'srv/pnpm-store', 'srv/trial'].map((name) => path.join(files, name));
  if (cache === undefined || store === undefined || trial === undefined) throw new Error('three folders are three');
  await mkdir(trial);
  for (const name of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) await cp(path.join(root, name), path.join(trial, name));
  const env = { ...process.env, npm_config_cache: cache, CI: 'true' };
  await show('npx', ['-y', PNPM, 'fetch', '--store-dir', store, '--ignore-scripts'], { cwd: trial, env });
  // The npm package "node" fetches its binary by npm when it is installed.
  const binary = `node-${process.platform}-${process.arch}@${process.versions.node}`;
  await cp(path.join(root, 'node_modules/node/package.json'), path.join(trial, 'package.json'));
  await show('npm', ['install', '--no-save', '--ignore-scripts', binary], { cwd: trial, env });
  await rm(trial, { recursive: true });
  if ((await readdir(store)).length === 0) throw new Error('pnpm has fetched nothing');
  await writeFile(path.join(files, 'usr/local/etc/npmrc'), 'cache=/srv/npm-cache\noffline=true\n');
  await mkdir(path.join(files, 'root/.config/pnpm'), { recursive: true });
  // The age of a release is asked of a registry.
  const config = 'storeDir: /srv/pnpm-store\nminimumReleaseAge: 0\n';
  await writeFile(path.join(files, 'root/.config/pnpm/config.yaml'), config);
}

/** Shows the program's output to the person who waits. */
async function show(program: string, args: readonly string[], options: object = {}): Promise<void> {
  const child = spawn(program, args, { stdio: 'inherit', ...options });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}`);
}

if (import.meta.main) await make();
