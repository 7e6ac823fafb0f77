// Writes the pack into the Lua code of nodes: `pnpm waf:pack`.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { luaPack } from './pack.ts';

const root = path.join(import.meta.dirname, '../../..');
const ModelFile = z.object({
  bias: z.number(),
  scale: z.number(),
  places: z.record(z.string(), z.number()),
  packed: z.base64(),
});

export const packFile = path.join(root, 'agent/lua/edge/waf/pack.lua');
export const modelFile = path.join(import.meta.dirname, '../model/weights.json');
export const currentPack = async () => luaPack(ModelFile.parse(JSON.parse(await readFile(modelFile, 'utf8'))));

if (import.meta.main) await writeFile(packFile, await currentPack());
