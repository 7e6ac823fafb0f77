// What is asked of a pack before anything works with it: that it was signed says who made it, and not that it is whole.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ReleaseProduct } from '@edgeloom/contract/edge/releases.ts';
import { readRiskPack, RISK_FILE } from '@edgeloom/contract/edge/risk-pack.ts';
import { reason } from '../log.ts';

/** Throws why this folder is no pack of the product. */
export async function assertUsable(product: ReleaseProduct, dir: string): Promise<void> {
  if (product !== 'risk') return;
  try {
    readRiskPack(await readFile(path.join(dir, RISK_FILE)));
  } catch (error) {
    throw new Error(`the risk pack is refused: ${reason(error)}`, { cause: error });
  }
}
