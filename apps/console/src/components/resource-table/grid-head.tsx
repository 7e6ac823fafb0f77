import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { useT } from '../../lib/i18n.ts';
import { isNumber, titleOf, type Column } from './columns.tsx';
import { orderOf, sortKeyOf } from './order.tsx';
import type { TableState } from './table-state.ts';
import classes from './resource-table.module.css';

interface ColumnHeadProps<Row> {
  column: Column<Row>;
  words: string;
  state: TableState;
}

/** A column title, which is a button when the column is sortable. */
export function ColumnHead<Row>({ column, words, state }: ColumnHeadProps<Row>) {
  const t = useT();
  const key = sortKeyOf(column);
  const sortable = key !== null && state.list.sortable.includes(key);
  const order = orderOf(column, state);
  const sorted = order === null ? undefined : order === 'asc' ? 'ascending' : 'descending';
  const title = titleOf(column, words);
  const Arrow = sorted === 'ascending' ? IconArrowUp : IconArrowDown;
  const arrow = sorted && (
    <Arrow
      size={13}
      stroke={1.8}
      aria-label={t(sorted === 'ascending' ? 'shared.table.sortedAscending' : 'shared.table.sortedDescending')}
    />
  );
  return (
    <th
      scope="col"
      data-priority={column.priority}
      data-number={isNumber(column) || undefined}
      data-flexible={column.flexible || undefined}
      {...((sortable || sorted) && { 'aria-sort': sorted ?? 'none' })}
    >
      {sortable ? (
        <button type="button" className={classes['sort']} data-sorted={sorted} onClick={() => state.setSort(key)}>
          {title}
          {arrow}
        </button>
      ) : sorted ? (
        <span className={classes['sort']} data-sorted={sorted}>
          {title}
          {arrow}
        </span>
      ) : (
        title
      )}
    </th>
  );
}
