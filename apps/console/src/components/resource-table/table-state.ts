import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { useMemo } from 'react';
import { useSearchParams } from 'react-router-dom';
import { choicesOf, defaultsOf, fieldOf } from '../../lib/schema.ts';
import { questionOf } from './sent.ts';
import { prefer, usePreferences } from '../../stores/preferences.ts';

export const pageSizes = [10, 25, 50, 100, 200, 500] as const;

/** Query options of a list, from the endpoint's declaration. */
export function listOf(endpoint: Endpoint) {
  const query = questionOf(endpoint);
  const defaults = defaultsOf(query);
  return {
    paged: query !== undefined && 'page' in query.shape,
    sortable: choicesOf(fieldOf(query, 'sortBy')).map(String),
    sortBy: String(defaults['sortBy'] ?? ''),
    orderBy: String(defaults['orderBy'] ?? 'asc'),
    pageSize: Number(defaults['pageSize'] ?? 25),
  };
}

/** Page, size, order, search and filters, all stored in the URL. */
export function useTableState(endpoint: Endpoint, filterKeys: readonly string[], sort: string | null = null) {
  const [address, setAddress] = useSearchParams();
  const list = useMemo(() => listOf(endpoint), [endpoint]);
  const storedPageSize = usePreferences((preferences) => preferences.pageSizes[endpoint.feature]);

  // Each change adds a history entry, so that Back restores the former list.
  const change = (changes: Record<string, string | null>, { keepPage = false, replace = false } = {}) => {
    // A change of a moment ago is in the window's address, but may not be rendered yet.
    const before = new URLSearchParams(window.location.search);
    const after = new URLSearchParams(before);
    if (!keepPage) after.delete('page');
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === '') after.delete(name);
      else after.set(name, value);
    }
    if (after.toString() !== before.toString()) setAddress(after, { replace });
  };

  const page = Math.max(1, Number(address.get('page')) || 1);
  const pageSize = Number(address.get('pageSize')) || storedPageSize || list.pageSize;
  const [sortBy, orderBy] = sortOf(address.get('sort') ?? sort, list);
  const search = address.get('q') ?? '';
  const filters = Object.fromEntries(
    filterKeys.map((key): [string, string[]] => [key, address.get(key)?.split(',').filter(Boolean) ?? []]),
  );
  return {
    list,
    page,
    pageSize,
    sortBy,
    orderBy,
    search,
    filters,
    filtered: search !== '' || Object.values(filters).some(({ length }) => length > 0),
    setPage: (next: number) => change({ page: next > 1 ? String(next) : null }, { keepPage: true }),
    setPageSize: (size: number) => {
      prefer(({ pageSizes: sizes }) => ({ pageSizes: { ...sizes, [endpoint.feature]: size } }));
      change({ pageSize: size === list.pageSize ? null : String(size) });
    },
    setSort: (column: string) => change({ sort: column === sortBy && orderBy === 'asc' ? `-${column}` : column }),
    /** `replace` is set while the reader continues to type the same search. */
    setSearch: (text: string, replace = false) => change({ q: text.trim() === '' ? null : text }, { replace }),
    setFilter: (key: string, values: readonly string[]) => change({ [key]: values.join(',') || null }),
    /** Columns in the URL, as set by a saved view. */
    columns: address.get('cols')?.split(',').filter(Boolean) ?? null,
    setColumns: (keys: readonly string[] | null) =>
      change({ cols: keys?.join(',') ?? null }, { keepPage: true, replace: true }),
    clear: () => change(Object.fromEntries(['q', ...filterKeys].map((key) => [key, null]))),
  };
}
export type TableState = ReturnType<typeof useTableState>;

/** `name` or `-name`. Unsortable columns are ignored. */
function sortOf(
  text: string | null,
  list: { sortable: readonly string[]; sortBy: string; orderBy: string },
): [string, string] {
  const column = text?.replace(/^-/, '') ?? '';
  return list.sortable.includes(column)
    ? [column, text?.startsWith('-') ? 'desc' : 'asc']
    : [list.sortBy, list.orderBy];
}
