// Parses a fetched list in a worker thread.
import { MAX_SOURCE_ENTRIES, type ListSourceError } from '@edgeloom/contract/list-sources/list-sources.ts';
import { parentPort, workerData } from 'node:worker_threads';
import * as z from 'zod';
import { cutIntoChunks } from './chunks.ts';
import { parseList } from './parse.ts';

export interface ListCopy {
  chunks: string[][];
  /** Lines without a usable entry. */
  rejected: number;
}

function parse(text: string): ListCopy | ListSourceError {
  const parsed = parseList(text, MAX_SOURCE_ENTRIES);
  return typeof parsed === 'string' ? parsed : { chunks: cutIntoChunks(parsed.entries), rejected: parsed.rejected };
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
parentPort?.postMessage(parse(z.string().parse(workerData)));
