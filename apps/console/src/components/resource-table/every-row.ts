import { ApiError } from '@edgeloom/contract/client.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { call } from '../../lib/api.ts';
import type { Identified } from './grid.tsx';
import { pageOf, type PageOfRows } from './page-of-rows.ts';
import { questionOf, sentOf } from './sent.ts';

/** The most that a list gives at once. */
const pageSize = 500;

export interface Question {
  endpoint: Endpoint;
  params?: Readonly<Record<string, string>> | undefined;
  /** The present filters and order; the pages are ours. */
  query: Readonly<Record<string, unknown>>;
}
interface Following {
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
}

/** All rows that match, page by page, in the order of the list. */
export async function everyRow<Row extends Identified>(question: Question, { signal, onProgress }: Following) {
  const rows = new Map<string, Row>();
  for (let page = 1; ; page += 1) {
    const found = await asked<Row>(question, page, signal);
    // A list that changes meanwhile may show a row on two pages.
    for (const row of found.data) rows.set(row.id, row);
    const total = Math.max(found.total ?? 0, rows.size);
    onProgress(rows.size, total);
    if (found.total === undefined || found.data.length < pageSize || page * pageSize >= total)
      return [...rows.values()];
  }
}

/** How far a row is looked for; past that the list is searched by its name. */
const SEARCHED_PAGES = 4;

/** The place of the first of these rows in the list, from 0; null where the first pages do not have it. */
export async function placeIn({ ids, ...question }: Question & { ids: readonly string[] }, signal: AbortSignal) {
  for (let page = 1; page <= SEARCHED_PAGES; page += 1) {
    const { data, total = 0 } = await asked<Identified>(question, page, signal);
    const index = data.findIndex(({ id }) => ids.includes(id));
    if (index >= 0) return (page - 1) * pageSize + index;
    if (page * pageSize >= total) return null;
  }
  return null;
}

async function asked<Row>({ endpoint, params, query }: Question, page: number, signal: AbortSignal) {
  const sent = sentOf(endpoint, params, { ...query, ...paging(endpoint, page) });
  for (;;) {
    try {
      const found = pageOf<Row>(await call(endpoint, sent, { signal }));
      return found ?? ({ data: [] } satisfies PageOfRows<Row>);
    } catch (error) {
      const wait = error instanceof ApiError && error.status === 429 ? error.retryAfterSeconds : null;
      if (wait === null) throw error;
      await pause(wait * 1000, signal);
    }
  }
}

const paging = (endpoint: Endpoint, page: number) =>
  'page' in (questionOf(endpoint)?.shape ?? {}) ? { page, pageSize } : {};

const pause = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
