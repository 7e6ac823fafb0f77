// Checks a pack before use: a signature proves its maker, not that it is usable.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ReleaseProduct } from '@edgeloom/contract/edge/releases.ts';
import { readRiskPack, RISK_FILE } from '@edgeloom/contract/edge/risk-pack.ts';
import { readWafPack, WAF_FILE } from '@edgeloom/contract/edge/waf-pack.ts';
import { reason } from '../log.ts';

const readers: Partial<Record<ReleaseProduct, { file: string; read: (content: Buffer) => unknown }>> = {
  risk: { file: RISK_FILE, read: readRiskPack },
  waf: { file: WAF_FILE, read: readWafPack },
};

/** Throws why the folder is not a usable pack of the product. */
export async function assertUsable(product: ReleaseProduct, dir: string): Promise<void> {
  const reader = readers[product];
  if (reader === undefined) return;
  try {
    reader.read(await readFile(path.join(dir, reader.file)));
  } catch (error) {
    throw new Error(`the ${product} pack is refused: ${reason(error)}`, { cause: error });
  }
}
