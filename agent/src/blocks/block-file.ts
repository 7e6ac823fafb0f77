// The block set on disk. It survives a restart, with the remaining times.
import { readFile } from 'node:fs/promises';
import { isNetwork } from '@edgeloom/contract/ipset/network.ts';
import * as z from 'zod';
import { writeWhole } from '../store/durable.ts';

export interface StoredBlock {
  /** Epoch milliseconds, by this machine's clock. */
  until: number;
  cause: string;
}
/** A block found on this node and not yet reported, with the site where it was found. */
export interface UnreportedBlock {
  siteID: string | null;
}
export interface StoredBlockSet {
  zoneID: string;
  revision: number;
  mark: string;
  blocks: Map<string, StoredBlock>;
  unreported: Map<string, UnreportedBlock>;
}

const Stored = z.object({
  zoneID: z.string(),
  revision: z.number(),
  mark: z.string(),
  blocks: z.array(z.tuple([z.string().refine(isNetwork), z.number(), z.string()])),
  unreported: z.array(z.tuple([z.string(), z.string().nullable()])).default([]),
});

export async function readBlocks(file: string): Promise<StoredBlockSet> {
  const { blocks, unreported, ...rest } = Stored.parse(JSON.parse(await readFile(file, 'utf8')));
  return {
    ...rest,
    blocks: new Map(blocks.map(([network, until, cause]) => [network, { until, cause }])),
    unreported: new Map(unreported.map(([network, siteID]) => [network, { siteID }])),
  };
}

export async function writeBlocks(file: string, { blocks, unreported, ...rest }: StoredBlockSet): Promise<void> {
  const list = Array.from(blocks, ([network, { until, cause }]) => [network, until, cause]);
  const pairs = Array.from(unreported, ([network, { siteID }]) => [network, siteID]);
  await writeWhole(file, JSON.stringify({ ...rest, blocks: list, unreported: pairs }), 0o600);
}
