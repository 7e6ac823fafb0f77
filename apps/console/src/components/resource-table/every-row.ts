import { ApiError } from '@edgeloom/contract/client.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { call } from '../../lib/api.ts';
import { pageOf, type Identified, type PageOfRows } from './page-of-rows.ts';
import { questionOf, sentOf } from './sent.ts';

/** Maximum page size. */
const pageSize = 500;

export interface Question {
  endpoint: Endpoint;
  params?: Readonly<Record<string, string>> | undefined;
  /** Current filters and order, without paging. */
  query: Readonly<Record<string, unknown>>;
}
interface Following {
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
}

/** All matching rows, page by page, in the list's order. */
export async function everyRow<Row extends Identified>(question: Question, { signal, onProgress }: Following) {
  const rows = new Map<string, Row>();
  for (let page = 1; ; page += 1) {
    const found = await asked<Row>(question, page, signal);
    // If the list changes in between, a row may appear on two pages.
    for (const row of found.data) rows.set(row.id, row);
    const total = Math.max(found.total ?? 0, rows.size);
    onProgress(rows.size, total);
    if (found.total === undefined || found.data.length < pageSize || page * pageSize >= total)
      return [...rows.values()];
  }
}

/** Pages to search for a row before the list is searched by name. */
const SEARCHED_PAGES = 4;

/** Position of the first of these rows, from 0. Null: not in the list. Undefined: not on the pages searched. */
export async function placeIn({ ids, ...question }: Question & { ids: readonly string[] }, signal: AbortSignal) {
  for (let page = 1; page <= SEARCHED_PAGES; page += 1) {
    const { data, total = 0 } = await asked<Identified>(question, page, signal);
    const index = data.findIndex(({ id }) => ids.includes(id));
    if (index >= 0) return (page - 1) * pageSize + index;
    if (page * pageSize >= total) return null;
  }
  return undefined;
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
