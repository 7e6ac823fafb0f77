// Checks a pack before use: a signature proves its maker, not that it is usable.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ReleaseProduct } from '@edgeloom/contract/edge/releases.ts';
import { readRiskPack, RISK_FILE } from '@edgeloom/contract/edge/risk-pack.ts';
import { reason } from '../log.ts';

/** Throws why the folder is not a usable pack of the product. */
export async function assertUsable(product: ReleaseProduct, dir: string): Promise<void> {
  if (product !== 'risk') return;
  try {
    readRiskPack(await readFile(path.join(dir, RISK_FILE)));
  } catch (error) {
    throw new Error(`the risk pack is refused: ${reason(error)}`, { cause: error });
  }
}
