import type { ListSourceError } from '@edgeloom/contract/list-sources/list-sources.ts';
import { runInWorker } from '../core/worker-pool.ts';
import type { ListCopy } from './parse.worker.ts';

/** Several times what the longest list needs. */
const TIMEOUT_MS = 30_000;
const worker = new URL('parse.worker.ts', import.meta.url);

/** The process answers requests meanwhile. */
export const parseInWorker = (text: string): Promise<ListCopy | ListSourceError> =>
  runInWorker<ListCopy | ListSourceError>(worker, text, { fallback: 'unreadable', timeoutMs: TIMEOUT_MS });
