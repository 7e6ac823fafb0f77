import { Checkbox } from '@mantine/core';
import type { KeyboardEvent, ReactNode } from 'react';
import { useT } from '../../lib/i18n.ts';
import { usePreferences } from '../../stores/preferences.ts';
import { isRowClick, rowOpener, type RowAction } from './actions.tsx';
import { isNumber, type Column } from './columns.tsx';
import { RowMenu } from './row-menu.tsx';
import classes from './resource-table.module.css';

interface GridRowProps<Row> {
  id: string;
  name: string;
  columns: readonly Column<Row>[];
  /** One cell per column. */
  cells: readonly ReactNode[];
  actions: readonly RowAction<Row>[];
  selectable: boolean;
  picked: boolean;
  isNew: boolean;
  /** Index among all rows, when the table is virtualized. */
  place: number | null;
  menuOpened: boolean;
  onMenu: (opened: boolean) => void;
  onPick: (on: boolean, range: boolean) => void;
  onRun: (action: RowAction<Row>) => void;
}

export function GridRow<Row>(props: GridRowProps<Row>) {
  const { id, name, columns, cells, actions, selectable, picked, isNew, place, menuOpened, onMenu, onPick, onRun } =
    props;
  const t = useT();
  const opening = rowOpener(actions);
  const onKey = (event: KeyboardEvent<HTMLTableRowElement>) => {
    // Ignore keys typed into a control of the row.
    if (event.target !== event.currentTarget || event.nativeEvent.isComposing) return;
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const editing = actions.find(({ kind, label }) => kind === 'open' && label === 'common.edit');
    if (move !== undefined) focusRow(event.currentTarget, move);
    else if (event.key === 'Enter' && opening) onRun(opening);
    else if (event.key === 'Enter') event.currentTarget.querySelector('a')?.click();
    else if (!usePreferences.getState().letterKeys) return;
    else if (event.key === 'x' && selectable) onPick(!picked, false);
    else if (event.key === 'X' && selectable) onPick(true, true);
    else if (event.key === '.' && actions.length > 0) onMenu(true);
    else if (event.key === 'e' && editing) onRun(editing);
    else return;
    event.preventDefault();
  };
  return (
    <tr
      className={classes['row']}
      tabIndex={-1}
      data-row={id}
      data-selected={picked || undefined}
      data-new={isNew || undefined}
      data-opens={opening !== undefined || undefined}
      {...(place !== null && { 'aria-rowindex': place })}
      onKeyDown={onKey}
      onClick={(event) => {
        if (!isRowClick(event)) return;
        event.currentTarget.focus();
        if (opening) onRun(opening);
      }}
      onContextMenu={(event) => {
        if (actions.length === 0) return;
        event.preventDefault();
        onMenu(true);
      }}
    >
      {selectable && (
        <td className={classes['pick']}>
          <Checkbox
            aria-label={t('shared.table.selectRow', { name })}
            checked={picked}
            onChange={() => {}}
            onClick={(event) => onPick(!picked, event.shiftKey)}
          />
        </td>
      )}
      {columns.map((column, i) => (
        // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- the cell's content has its own label
        <td
          key={column.key}
          data-priority={column.priority}
          data-number={isNumber(column) || undefined}
          data-first={i === 0 || undefined}
          data-flexible={column.flexible || undefined}
          data-time={column.as === 'time' || undefined}
        >
          {cells[i]}
        </td>
      ))}
      <td className={classes['more']}>
        <RowMenu name={name} actions={actions} onRun={onRun} opened={menuOpened} onOpened={onMenu} />
      </td>
    </tr>
  );
}

function focusRow(from: HTMLElement, move: number) {
  let next = move > 0 ? from.nextElementSibling : from.previousElementSibling;
  while (next && !next.classList.contains(classes['row'] ?? ''))
    next = move > 0 ? next.nextElementSibling : next.previousElementSibling;
  if (next instanceof HTMLElement) next.focus();
}
