// The block set on disk. It survives a restart, with the remaining times.
import { readFile } from 'node:fs/promises';
import { isNetwork } from '@edgeloom/contract/ipset/network.ts';
import * as z from 'zod';
import { writeWhole } from '../store/durable.ts';

export interface StoredBlock {
  /** Milliseconds by this machine's clock. */
  until: number;
  cause: string;
}
/** A block found on this node and not yet reported, with the site where it was found. */
export interface UnreportedBlock {
  siteID: string | null;
}
export interface KeptSet {
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
  untold: z.array(z.tuple([z.string(), z.string().nullable()])).default([]),
});

export async function readBlocks(file: string): Promise<KeptSet> {
  const { blocks, untold, ...rest } = Stored.parse(JSON.parse(await readFile(file, 'utf8')));
  return {
    ...rest,
    blocks: new Map(blocks.map(([network, until, cause]) => [network, { until, cause }])),
    unreported: new Map(untold.map(([network, siteID]) => [network, { siteID }])),
  };
}

export async function writeBlocks(file: string, { blocks, unreported: untold, ...rest }: KeptSet): Promise<void> {
  const list = Array.from(blocks, ([network, { until, cause }]) => [network, until, cause]);
  const pairs = Array.from(untold, ([network, { siteID }]) => [network, siteID]);
  await writeWhole(file, JSON.stringify({ ...rest, blocks: list, untold: pairs }), 0o600);
}
