// The tree a node serves from: what the documents render to, and which Lua it goes with. nginx reads Lua when it reads its
// configuration, so an agent that brings other Lua brings another tree, and the reload that goes with it.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { NodeDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { renderTree } from '../render/render.ts';
import type { HostFacts } from '../render/render.ts';
import type { Tree } from './trees.ts';

export interface Structure {
  zone: ZoneDoc;
  node: NodeDoc | null;
}

/** What a tree depends on besides the documents. */
export interface Machine {
  host: HostFacts;
  luaHash: string;
}

export const nodeTree = (structure: Structure, generation: number, { host, luaHash }: Machine): Tree =>
  new Map([...renderTree({ ...structure, generation, host }), ['lua.sha256', `${luaHash}\n`]]);

/** Over names and contents of all that lies in the folder. */
export async function hashFolder(dir: string): Promise<string> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const content = await readFile(file);
    hash.update(`${path.relative(dir, file)}\n${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}
