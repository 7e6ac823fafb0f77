// Builds what does not run from source: the console (apps/console/dist) and the agent (dist/agent.mjs for Node 20, with
// its Lua and the image library). `--if-changed` skips up-to-date parts, `--only agent` builds the agent alone.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cp, link, mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import * as z from 'zod';
import { identify, isRunning, readIdentity } from './services/program.ts';

export const root = path.join(import.meta.dirname, '..');
const stamps = path.join(root, '.data/cache');

interface Product {
  name: string;
  /** Files and folders that the output depends on. */
  sources: string[];
  output: string;
  make: () => Promise<void>;
}

const shared = ['packages/contract/src', 'pnpm-lock.yaml', 'deploy/build.ts'];
const unit = 'deploy/systemd/edgeloom-agent.service';
const launcher = 'deploy/launch.sh';
const products: Product[] = [
  { name: 'console', sources: ['apps/console', ...shared], output: 'apps/console/dist/index.html', make: buildConsole },
  {
    name: 'agent',
    sources: ['agent/src', 'agent/lua', unit, launcher, ...shared],
    output: 'dist/agent.mjs',
    make: buildAgent,
  },
];

/** Returns the names of the built parts. Concurrent builds wait for each other. */
export const buildAll = (options: { ifChanged: boolean; only?: string | undefined }) => alone(() => buildNow(options));

/** Hash of the sources that `dist/` was built from. */
export const agentBuiltFrom = () => readFile(path.join(stamps, 'agent.built-from'), 'utf8');

async function buildNow({ ifChanged, only }: { ifChanged: boolean; only?: string | undefined }): Promise<string[]> {
  const built: string[] = [];
  for (const product of products.filter(({ name }) => only === undefined || name === only)) {
    const stampFile = path.join(stamps, `${product.name}.built-from`);
    const sources = await hashOf(product.sources);
    const isThere = await stat(path.join(root, product.output)).catch(() => null);
    if (ifChanged && isThere && (await readFile(stampFile, 'utf8').catch(() => '')) === sources) continue;
    await product.make();
    await writeFile(stampFile, sources);
    built.push(product.name);
  }
  return built;
}

/** Runs the task under a lock of this checkout. */
export async function alone<T>(task: () => Promise<T>): Promise<T> {
  await mkdir(stamps, { recursive: true });
  const lock = path.join(stamps, 'build.lock');
  const draft = `${lock}.${process.pid}`;
  await writeFile(draft, JSON.stringify(await identify(process.pid)));
  try {
    while (!(await isLinked(draft, lock))) {
      const holder = await readIdentity(lock);
      if (holder !== null && (await isRunning(holder))) await setTimeout(100);
      else await rm(lock, { force: true });
    }
    try {
      return await task();
    } finally {
      await rm(lock, { force: true });
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** Creates the file with its content atomically. False if it exists. */
const isLinked = (from: string, to: string) =>
  link(from, to).then(
    () => true,
    () => false,
  );

async function buildConsole() {
  const vite = path.join(root, 'apps/console/node_modules/vite/bin/vite.js');
  // A test runner sets NODE_ENV to "test", which would bundle the libraries' development code.
  const env = { ...process.env, NODE_ENV: 'production' };
  const child = spawn(process.execPath, [vite, 'build'], {
    cwd: path.join(root, 'apps/console'),
    env,
    stdio: 'inherit',
  });
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error('the console was not built');
}

/** Bundles the agent into one file. `version` overrides the sources' version. */
export async function bundleAgent(outfile: string, version?: string): Promise<void> {
  await build({
    entryPoints: [path.join(root, 'agent/src/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
    ...(version !== undefined && { define: { EDGELOOM_VERSION: JSON.stringify(version) } }),
    // The NATS client is CommonJS and requires Node's modules.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  });
}

/** Replaces the files one by one, because a node may be running from them. */
async function buildAgent() {
  const dist = path.join(root, 'dist');
  const fresh = path.join(root, '.data/cache/agent.new');
  await rm(fresh, { recursive: true, force: true });
  await layOutAgent(fresh);
  await mkdir(dist, { recursive: true });
  for (const name of await readdir(fresh)) {
    await rm(path.join(dist, name), { recursive: true, force: true });
    await rename(path.join(fresh, name), path.join(dist, name));
  }
  await rm(fresh, { recursive: true });
}

/** All files of a node, and the installer. */
export async function layOutAgent(into: string, version?: string): Promise<void> {
  await bundleAgent(path.join(into, 'agent.mjs'), version);
  await cp(path.join(root, unit), path.join(into, path.basename(unit)));
  await cp(path.join(root, launcher), path.join(into, 'launch'));
  const isShipped = (source: string) => !source.endsWith('_spec.lua');
  await cp(path.join(root, 'agent/lua'), path.join(into, 'lua'), { recursive: true, filter: isShipped });
  await layOut('sharp', path.join(root, 'agent/node_modules'), path.join(into, 'node_modules'));
}

/** sharp has native code, so its files for this platform are copied beside the bundle. Nodes work without them. */
async function layOut(name: string, from: string, into: string): Promise<void> {
  const real = await realpath(path.join(from, name)).catch(() => null);
  if (real === null || (await stat(path.join(into, name)).catch(() => null))) return;
  await cp(real, path.join(into, name), { recursive: true, dereference: true });
  const { dependencies, optionalDependencies } = Needs.parse(
    JSON.parse(await readFile(path.join(real, 'package.json'), 'utf8')),
  );
  // Dependencies are siblings of the package's real folder.
  const beside = real.slice(0, -name.length);
  for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) await layOut(needed, beside, into);
}
const Names = z.record(z.string(), z.string()).default({});
const Needs = z.object({ dependencies: Names, optionalDependencies: Names });

export async function hashOf(sources: string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const source of sources) await addTo(hash, source);
  return hash.digest('hex');
}

const isOutput = (name: string) => name === 'node_modules' || name === 'dist' || name.startsWith('.');

async function addTo(hash: ReturnType<typeof createHash>, source: string) {
  const file = path.join(root, source);
  if ((await stat(file)).isFile()) return void hash.update(`${source}\0`).update(await readFile(file));
  for (const name of (await readdir(file)).sort()) if (!isOutput(name)) await addTo(hash, path.join(source, name));
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { 'if-changed': { type: 'boolean', default: false }, only: { type: 'string' } },
  });
  const built = await buildAll({ ifChanged: values['if-changed'], only: values.only });
  console.log(built.length === 0 ? 'What is built is current.' : `Built: ${built.join(', ')}`);
}
