// A local base image in place of the registry images of docker-compose.yml, for machines without registry access:
// Debian 12 with Node, npm, PostgreSQL, nats-server and all packages that the two builds fetch.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { debianPackages } from '@edgeloom/api/install/scripts.ts';
import { debootstrap, localImage, runProgram } from './local-images.ts';

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../../..');
const PNPM = 'pnpm@12.21.0';
/** Packages that the PostgreSQL and NATS images provide. */
const base = ['ca-certificates', 'dpkg-dev', 'nats-server', 'postgresql-15', 'wget'];

const sourceFiles = [import.meta.filename, path.join(root, 'pnpm-lock.yaml')];
export const containerBase = localImage(
  'container-base',
  [...sourceFiles.map((file) => readFileSync(file, 'utf8')), ...debianPackages],
  writeFiles,
);

/** The compose program with its first arguments. */
export async function findCompose(): Promise<[string, ...string[]]> {
  const isThere = (program: string, ...args: string[]) =>
    run(program, [...args, 'version']).then(
      () => true,
      () => false,
    );
  if (await isThere('docker', 'compose')) return ['docker', 'compose'];
  if (await isThere('docker-compose')) return ['docker-compose'];
  throw new Error('Docker Compose is missing: apt-get install docker-compose');
}

async function writeFiles(files: string): Promise<void> {
  await debootstrap(files, base);
  const script = `chroot "$1" sh -euc '
    rm -f /var/cache/apt/archives/*.deb
    apt-get update
    apt-get install -y --download-only --no-install-recommends ${debianPackages.join(' ')}
    rm -rf /var/lib/apt/lists/*
    mkdir -p /srv/packages
    mv /var/cache/apt/archives/*.deb /srv/packages
    cd /srv/packages && dpkg-scanpackages --multiversion . > Packages
    useradd --create-home --uid 1000 node'`;
  await runProgram('sh', ['-euc', script, 'sh', files]);
  await writeFile(path.join(files, 'etc/apt/sources.list'), 'deb [trusted=yes] file:/srv/packages ./\n');
  await addNode(files);
  await addPackages(files);
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
  await runProgram('npx', ['-y', PNPM, 'fetch', '--store-dir', store, '--ignore-scripts'], { cwd: trial, env });
  // The npm package "node" downloads its binary on install.
  const binary = `node-${process.platform}-${process.arch}@${process.versions.node}`;
  await cp(path.join(root, 'node_modules/node/package.json'), path.join(trial, 'package.json'));
  await runProgram('npm', ['install', '--no-save', '--ignore-scripts', binary], { cwd: trial, env });
  await rm(trial, { recursive: true });
  if ((await readdir(store)).length === 0) throw new Error('pnpm has fetched nothing');
  await writeFile(path.join(files, 'usr/local/etc/npmrc'), 'cache=/srv/npm-cache\noffline=true\n');
  await mkdir(path.join(files, 'root/.config/pnpm'), { recursive: true });
  // A minimum release age would need the registry.
  const config = 'storeDir: /srv/pnpm-store\nminimumReleaseAge: 0\n';
  await writeFile(path.join(files, 'root/.config/pnpm/config.yaml'), config);
}
