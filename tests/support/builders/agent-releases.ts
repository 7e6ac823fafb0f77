// Builds agent releases, and starts a node from one through its launcher.
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { releaseName, SignedRelease } from '@edgeloom/contract/edge/releases.ts';
import type { ReleaseProduct } from '@edgeloom/contract/edge/releases.ts';
import { create as createTar } from 'tar';
import { ensureAgentHome } from '../../../deploy/agent-home.ts';
import { bundleAgent, root } from '../../../deploy/build.ts';
import { keyFilesIn, makeReleaseKey } from '../../../deploy/release-key.ts';
import { makeRelease, readKey, signRelease } from '../../../deploy/release.ts';
import type { Peer } from '../fakes/scripted-control-plane.ts';
import { testDir } from '../services/test-dir.ts';

export interface TestRelease {
  version: string;
  sha256: string;
  /** Folder name on the node. */
  name: string;
  signed: SignedRelease;
  archive: string;
}

export interface ReleaseMaker {
  keysFile: string;
  /** An agent release without the image library. `change` edits the files before they are packed. */
  agent: (version: string, change?: (dir: string) => Promise<void>) => Promise<TestRelease>;
  /** An archive with hostile entries: `link` points to /etc, `../outside` escapes the archive. */
  raw: (version: string, names: string[]) => Promise<TestRelease>;
  /** An archive of any content, including content that `pnpm release` refuses to sign. */
  pack: (product: ReleaseProduct, version: string, files: Record<string, string | Buffer>) => Promise<TestRelease>;
  /** A release signed by an unknown key. */
  signedByUnknownKey: (version: string) => Promise<TestRelease>;
  stop: () => Promise<void>;
}

/** Builds the agent once and reuses it for every version. */
export async function releaseMaker(): Promise<ReleaseMaker> {
  const dir = await testDir();
  const plain = path.join(dir, 'plain');
  await bundleAgent(path.join(plain, 'agent.mjs'), VERSION);
  const isShipped = (source: string) => !source.endsWith('_spec.lua');
  await cp(path.join(root, 'agent/lua'), path.join(plain, 'lua'), { recursive: true, filter: isShipped });
  await cp(path.join(root, 'deploy/launch.sh'), path.join(plain, 'launch'));
  await Promise.all(['ours', 'strange'].map((name) => makeReleaseKey(path.join(dir, name))));
  const key = (name: string) => readKey(keyFilesIn(path.join(dir, name)).privateKey);
  let made = 0;
  const next = () => {
    made += 1;
    return { from: path.join(dir, `from-${made}`), to: path.join(dir, `to-${made}`) };
  };
  const make = async (
    product: ReleaseProduct,
    version: string,
    signer: string,
    fill: (from: string) => Promise<void>,
  ): Promise<TestRelease> => {
    const { from, to } = next();
    await mkdir(from);
    await fill(from);
    return read(version, await makeRelease({ product, version, from, to, key: await key(signer) }));
  };
  const read = async (version: string, archive: string): Promise<TestRelease> => {
    const signed = SignedRelease.parse(JSON.parse(await readFile(archive.replace(/\.tar\.gz$/, '.json'), 'utf8')));
    const { sha256 }: { sha256: string } = JSON.parse(signed.manifest);
    return { version, sha256, name: releaseName(sha256), signed, archive };
  };
  const agent = (version: string, signer: string, change?: (from: string) => Promise<void>) =>
    make('agent', version, signer, async (from) => {
      await cp(plain, from, { recursive: true });
      const bundle = path.join(from, 'agent.mjs');
      await writeFile(bundle, (await readFile(bundle, 'utf8')).replaceAll(VERSION, version));
      // Each version has different Lua, so that an upgrade needs a reload.
      await writeFile(path.join(from, 'lua/edge/version.lua'), `-- ${version}\nreturn {}\n`);
      await change?.(from);
    });
  return {
    keysFile: keyFilesIn(path.join(dir, 'ours')).publicKey,
    agent: (version, change) => agent(version, 'ours', change),
    signedByUnknownKey: (version) => agent(version, 'strange'),
    raw: async (version, names) => {
      const { from, to } = next();
      await mkdir(path.join(from, 'inside'), { recursive: true });
      await mkdir(to);
      await writeFile(path.join(from, 'outside'), 'not theirs');
      await symlink('/etc', path.join(from, 'inside/link'));
      const draft = path.join(to, 'draft');
      await createTar({ cwd: path.join(from, 'inside'), file: draft, gzip: true, preservePaths: true }, names);
      return read(version, await signRelease(draft, { product: 'agent', version, to, key: await key('ours') }));
    },
    pack: async (product, version, files) => {
      const { from, to } = next();
      await mkdir(from);
      await mkdir(to);
      for (const [file, content] of Object.entries(files)) await writeFile(path.join(from, file), content);
      const draft = path.join(to, 'draft');
      await createTar({ cwd: from, file: draft, gzip: true, portable: true }, Object.keys(files));
      return read(version, await signRelease(draft, { product, version, to, key: await key('ours') }));
    },
    stop: () => rm(dir, { recursive: true, force: true }),
  };
}

const VERSION = '0.0.0-placeholder';

/** Options of `standingNode` that run a node from this release. */
export async function createAgentHome({ archive }: TestRelease): Promise<{ home: string; launcher: string }> {
  const home = await testDir();
  return { home, launcher: await ensureAgentHome(home, archive) };
}

/** Serves the releases from the peer, with support for ranges. */
export function serveReleases(peer: Peer, ...releases: TestRelease[]): { asked: { sha256: string; from: number }[] } {
  const asked: { sha256: string; from: number }[] = [];
  peer.onArchive = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', peer.url);
    const sha256 = path.basename(pathname);
    const from = Number(searchParams.get('from') ?? 0);
    asked.push({ sha256, from });
    const release = releases.find((one) => one.sha256 === sha256);
    const isAuthorized = request.headers.authorization === `Bearer ${TOKEN}`;
    if (release === undefined || !isAuthorized) return void response.writeHead(401).end();
    response.writeHead(200, { 'content-type': 'application/gzip' });
    createReadStream(release.archive, { start: from }).pipe(response);
  };
  return { asked };
}

export const TOKEN = 'the ticket of an order';
