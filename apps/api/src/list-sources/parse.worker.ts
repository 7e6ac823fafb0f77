// Parses a fetched list in a worker thread.
import {
  ListSourceKind,
  MAX_SOURCE_ENTRIES,
  type ListSourceError,
} from '@edgeloom/contract/list-sources/list-sources.ts';
import { parentPort, workerData } from 'node:worker_threads';
import * as z from 'zod';
import { cutIntoChunks, type ListChunk } from './chunks.ts';
import { parseDecisions } from './decisions.ts';
import { parseList } from './parse.ts';

const Input = z.object({ kind: ListSourceKind, text: z.string(), receivedAt: z.number() });
export type ParseInput = z.output<typeof Input>;

export interface ListCopy {
  chunks: ListChunk[];
  /** Lines or decisions without a usable entry. */
  rejected: number;
}

function parse({ kind, text, receivedAt }: ParseInput): ListCopy | ListSourceError {
  const parsed =
    kind === 'url' ? parseList(text, MAX_SOURCE_ENTRIES) : parseDecisions(text, MAX_SOURCE_ENTRIES, receivedAt);
  return typeof parsed === 'string' ? parsed : { chunks: cutIntoChunks(parsed.entries), rejected: parsed.rejected };
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
parentPort?.postMessage(parse(Input.parse(workerData)));
