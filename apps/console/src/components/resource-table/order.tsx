import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { useT } from '../../lib/i18n.ts';
import { fieldTitle, titleOf, type Column } from './columns.tsx';
import { listOf, type TableState } from './table-state.ts';
import classes from './resource-table.module.css';

/** The column's `sortBy` value, or null if it is not sortable. */
export const sortKeyOf = <Row,>({ key, sort }: Column<Row>) => (sort === false ? null : (sort ?? key));

/** Sort direction of this column. Null: another column is sorted. */
export function orderOf<Row>(column: Column<Row>, { list, sortBy, orderBy }: TableState): 'asc' | 'desc' | null {
  if (list.sortable.length === 0) return column.ordered ?? null;
  return sortKeyOf(column) === sortBy ? (orderBy === 'asc' ? 'asc' : 'desc') : null;
}

/** The endpoint's own order if a column shows it, otherwise the order of the first sortable column. */
export function startingOrder<Row>(endpoint: Endpoint, columns: readonly Column<Row>[]) {
  const { sortable, sortBy } = listOf(endpoint);
  const keys = columns.filter(({ hidden }) => !hidden).map(sortKeyOf);
  if (keys.includes(sortBy)) return null;
  return keys.find((key) => key !== null && sortable.includes(key)) ?? null;
}

interface OrderNoteProps<Row> {
  state: TableState;
  columns: readonly Column<Row>[];
  words: string;
}

/** The order as text, when the sorted column is hidden. */
export function OrderNote<Row>({ state, columns, words }: OrderNoteProps<Row>) {
  const t = useT();
  const column = columns.find((one) => orderOf(one, state) !== null);
  if (state.list.sortable.length === 0 && !column) return null;
  const name = column ? titleOf(column, words) : fieldTitle(words, state.sortBy);
  const order = column ? orderOf(column, state) : state.orderBy;
  return (
    <span className={classes['order']} data-priority={column ? (column.priority ?? 1) : undefined}>
      {t(order === 'asc' ? 'shared.table.orderAscending' : 'shared.table.orderDescending', { name })}
    </span>
  );
}
