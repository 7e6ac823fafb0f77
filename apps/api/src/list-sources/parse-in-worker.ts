import type { ListSourceError } from '@edgeloom/contract/list-sources/list-sources.ts';
import { runInWorker } from '../core/worker-pool.ts';
import type { ListCopy, ParseInput } from './parse.worker.ts';

/** Several times what the longest list needs. */
const TIMEOUT_MS = 30_000;
const worker = new URL('parse.worker.ts', import.meta.url);

/** The process answers requests meanwhile. */
export const parseInWorker = (input: ParseInput): Promise<ListCopy | ListSourceError> =>
  runInWorker<ListCopy | ListSourceError>(worker, input, { fallback: 'unreadable', timeoutMs: TIMEOUT_MS });
