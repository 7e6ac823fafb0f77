// The block set on disk. It survives a restart, with the remaining times.
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { writeWhole } from '../store/durable.ts';
import { isKey } from './block-key.ts';

export interface StoredBlock {
  /** Epoch milliseconds, by this machine's clock. */
  until: number;
  cause: string;
}
/** A block found on this node and not yet reported, with the site and the rule that found it. */
export interface UnreportedBlock {
  siteID: string | null;
  rule?: string | undefined;
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
  blocks: z.array(z.tuple([z.string().refine(isKey), z.number(), z.string()])),
  // Earlier agents wrote no rule.
  unreported: z.array(z.tuple([z.string(), z.string().nullable()], z.string())).default([]),
});

export async function readBlocks(file: string): Promise<StoredBlockSet> {
  const { blocks, unreported, ...rest } = Stored.parse(JSON.parse(await readFile(file, 'utf8')));
  return {
    ...rest,
    blocks: new Map(blocks.map(([network, until, cause]) => [network, { until, cause }])),
    unreported: new Map(unreported.map(([network, siteID, rule]) => [network, { siteID, rule }])),
  };
}

export async function writeBlocks(file: string, { blocks, unreported, ...rest }: StoredBlockSet): Promise<void> {
  const list = Array.from(blocks, ([network, { until, cause }]) => [network, until, cause]);
  const found = Array.from(unreported, ([network, { siteID, rule }]) => [network, siteID, ...(rule ? [rule] : [])]);
  await writeWhole(file, JSON.stringify({ ...rest, blocks: list, unreported: found }), 0o600);
}
