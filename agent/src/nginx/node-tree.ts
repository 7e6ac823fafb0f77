// The tree that a node serves from: rendered files and a hash of everything else that nginx reads with its
// configuration: Lua, keys, certificate authorities, packs and the cache directory. A change of any of them reloads
// nginx.
import { createHash } from 'node:crypto';
import { readdir, readFile, readlink, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { NodeDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { renderTree } from '../render/render.ts';
import type { HostFacts } from '../render/input.ts';
import type { Tree } from './trees.ts';

export interface Structure {
  zone: ZoneDoc;
  node: NodeDoc | null;
}

export async function nodeTree(structure: Structure, generation: number, host: HostFacts): Promise<Tree> {
  const tree = renderTree({ ...structure, generation, host: { ...host, ...(await cacheReserve(host)) } });
  return new Map([...tree, ['loaded.sha256', `${await hashOfInputs(host, structure.node?.cacheDir)}\n`]]);
}

/** Upper bound of the free disk space that the cache reserves. */
const MAX_RESERVE_BYTES = 256 * 2 ** 20;
/** The reserve as a share of a small disk. */
const RESERVE_SHARE = 1 / 8;

/** Empty before the cache directory is known. */
async function cacheReserve({ dir }: HostFacts): Promise<{ cacheReserveBytes?: number }> {
  const disk = await statfs(path.join(dir, 'cache/objects')).catch(() => null);
  if (disk === null) return {};
  return { cacheReserveBytes: Math.min(MAX_RESERVE_BYTES, Math.floor(disk.blocks * disk.bsize * RESERVE_SHARE)) };
}

/** The packs in use. Their folders are named by content hash. */
async function packsIn(dir: string): Promise<string[]> {
  const packs = (await readdir(dir).catch((): string[] => [])).sort();
  return Promise.all(
    packs.map(async (name) => `${name} ${await readlink(path.join(dir, name, 'current')).catch(() => '')}\n`),
  );
}

/** The keys are random, so their hash reveals nothing. */
async function hashOfInputs({ luaDir, dir, caBundle }: HostFacts, cacheDir: string | undefined): Promise<string> {
  const entries = await readdir(luaDir, { recursive: true, withFileTypes: true });
  const lua = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const keys = ['zone.keys', 'fallback.pem'].map((name) => path.join(dir, 'keys', name));
  const hash = createHash('sha256').update(cacheDir ?? '');
  for (const file of [...lua.sort(), ...keys, ...(caBundle === null ? [] : [caBundle])]) {
    const content = await readFile(file).catch(() => Buffer.alloc(0));
    hash.update(`${path.basename(file)}\n${content.length}\n`).update(content);
  }
  for (const pack of await packsIn(path.join(dir, 'packs'))) hash.update(pack);
  return hash.digest('hex');
}
