// Writes the pack into the Lua code of nodes: `pnpm waf:pack`. With `--to FOLDER` it writes waf.json, which
// `pnpm release --product waf --from FOLDER …` signs for nodes that run already.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { WAF_FILE } from '@edgeloom/contract/edge/waf-pack.ts';
import * as z from 'zod';
import { luaPack, packText, wafPack } from './pack.ts';

const root = path.join(import.meta.dirname, '../../..');
const ModelFile = z.object({
  bias: z.number(),
  scale: z.number(),
  places: z.record(z.string(), z.number()),
  packed: z.base64(),
});

export const packFile = path.join(root, 'agent/lua/edge/waf/pack.lua');
export const modelFile = path.join(import.meta.dirname, '../model/weights.json');
const currentModel = async () => ModelFile.parse(JSON.parse(await readFile(modelFile, 'utf8')));
export const currentPack = async () => luaPack(await currentModel());
export const currentWafPack = async () => wafPack(await currentModel());

async function writeRelease(to: string): Promise<void> {
  const pack = await currentWafPack();
  await mkdir(to, { recursive: true });
  await writeFile(path.join(to, WAF_FILE), packText(pack));
  console.log(`${path.join(to, WAF_FILE)}: version ${pack.version}, ${pack.rules.length} rules`);
}

if (import.meta.main) {
  const { to } = parseArgs({ options: { to: { type: 'string' } } }).values;
  await (to === undefined ? writeFile(packFile, await currentPack()) : writeRelease(to));
}
