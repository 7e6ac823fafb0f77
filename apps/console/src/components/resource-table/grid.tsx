import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { Checkbox } from '@mantine/core';
import { createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { IconArrowDown, IconArrowUp, IconChevronRight } from '@tabler/icons-react';
import { useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useT } from '../../lib/i18n.ts';
import { prefer, usePreferences } from '../../stores/preferences.ts';
import type { RowAction } from './actions.tsx';
import { cellOf, isNumber, titleOf, type Column } from './columns.tsx';
import type { GroupOf, Identified, PhoneRow } from './resource-table.tsx';
import { RowMenu } from './row-menu.tsx';
import type { TableState } from './table-state.ts';
import type { Selection, SetSelection } from './use-selection.ts';
import classes from './resource-table.module.css';

export interface GridProps<Row extends Identified> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  words: string;
  endpoint: Endpoint;
  state: TableState;
  caption: string;
  selectable: boolean;
  selected: Selection;
  setSelected: SetSelection;
  actionsOf: (row: Row) => readonly RowAction<Row>[];
  runOne: (action: RowAction<Row>, row: Row) => void;
  nameOf: (row: Row) => string;
  group?: GroupOf<Row>;
  phone?: (row: Row) => PhoneRow;
  dimmed?: boolean;
}

// Order, pages and filters are the server's, selection and columns outlive the table; it keeps rows and cells.
const features = tableFeatures({});
/** Past this many rows only those near the window are in the document. */
const virtualFrom = 200;

export interface Grouped<Row> {
  key: string;
  label: ReactNode;
  rows: readonly Row[];
}
/** The rows in the groups they belong to, in the order the groups first appear; one nameless group when there are none. */
export function grouped<Row>(rows: readonly Row[], group: GroupOf<Row> | undefined): Grouped<Row>[] {
  if (!group) return [{ key: '', label: null, rows }];
  return [...Map.groupBy(rows, group.by)].map(([key, members]) => ({
    key,
    label: group.label(key, members),
    rows: members,
  }));
}

type Line<Row> = { kind: 'group'; group: Grouped<Row>; folded: boolean } | { kind: 'row'; row: Row; index: number };

/** The table itself, for a screen wide enough for columns. */
export function Grid<Row extends Identified>(props: GridProps<Row>) {
  const {
    rows,
    columns,
    words,
    state,
    caption,
    selectable,
    selected,
    setSelected,
    nameOf,
    group,
    endpoint,
    dimmed = false,
  } = props;
  const t = useT();
  const scroller = useRef<HTMLElement>(null);
  const lastPicked = useRef<number | null>(null);
  const [menu, setMenu] = useState<string | null>(null);
  const kept = usePreferences((preferences) => preferences.folded[endpoint.feature]);

  const helper = useMemo(() => createColumnHelper<typeof features, Row>(), []);
  const definitions = useMemo(
    () =>
      helper.columns(
        columns.map((column) =>
          helper.display({
            id: column.key,
            header: titleOf(column, words),
            cell: ({ row }) => cellOf(column, row.original),
          }),
        ),
      ),
    [helper, columns, words],
  );
  const data = useMemo(() => [...rows], [rows]);
  const table = useTable({ features, columns: definitions, data, getRowId: ({ id }) => id });
  const models = new Map(table.getRowModel().rows.map((model) => [model.id, model]));

  const folded = new Set(kept ?? []);
  const lines: Line<Row>[] = grouped(rows, group).flatMap((one): Line<Row>[] => {
    const closed = folded.has(one.key);
    const members = one.rows.map((row): Line<Row> => ({ kind: 'row', row, index: rows.indexOf(row) }));
    return one.label === null ? members : [{ kind: 'group', group: one, folded: closed }, ...(closed ? [] : members)];
  });
  const virtual = lines.length > virtualFrom;
  const rowHeight = usePreferences(({ density }) => (density === 'roomy' ? 44 : 36));
  // oxlint-disable-next-line react/incompatible-library -- its answers are read in this render only, never passed on
  const virtualizer = useVirtualizer({
    count: virtual ? lines.length : 0,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (lines[index]?.kind === 'group' ? 32 : rowHeight),
    overscan: 12,
  });
  const windowed = virtualizer.getVirtualItems();
  const visible = virtual ? windowed.flatMap(({ index }) => lines[index] ?? []) : lines;
  const before = virtual ? (windowed[0]?.start ?? 0) : 0;
  const after = virtual ? virtualizer.getTotalSize() - (windowed.at(-1)?.end ?? 0) : 0;

  const span = columns.length + (selectable ? 1 : 0) + 1;
  const picked = rows.filter(({ id }) => selected[id]).length;
  const pick = (index: number, on: boolean, range: boolean) => {
    const from = range && lastPicked.current !== null ? lastPicked.current : index;
    lastPicked.current = index;
    const ids = rows.slice(Math.min(from, index), Math.max(from, index) + 1).map(({ id }) => [id, on] as const);
    setSelected((all) => ({ ...all, ...Object.fromEntries(ids) }));
  };
  const pickAll = (on: boolean) => setSelected(on ? Object.fromEntries(rows.map(({ id }) => [id, true])) : {});
  const fold = (key: string) => {
    const next = folded.has(key) ? [...folded].filter((one) => one !== key) : [...folded, key];
    prefer(({ folded: all }) => ({ folded: { ...all, [endpoint.feature]: next } }));
  };
  const onKey = (event: KeyboardEvent<HTMLTableRowElement>, index: number) => {
    // Only from the row itself: keys typed into a control in it are the control's.
    if (event.target !== event.currentTarget || event.nativeEvent.isComposing) return;
    const id = rows[index]?.id;
    const move = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (move !== undefined) focusRow(event.currentTarget, move);
    else if (event.key === 'x' && selectable && id) pick(index, !selected[id], false);
    else if (event.key === 'X' && selectable && id) pick(index, true, true);
    else if (event.key === '.' && id) setMenu(id);
    else if (event.key === 'Enter') event.currentTarget.querySelector('a')?.click();
    else return;
    event.preventDefault();
  };

  return (
    <section
      ref={scroller}
      className={classes['scroller']}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reached by keyboard
      tabIndex={0}
      aria-label={caption}
      data-dimmed={dimmed || undefined}
    >
      <table className={classes['table']} {...(virtual && { 'aria-rowcount': rows.length + 1 })}>
        <caption className="hidden-text">{caption}</caption>
        <thead>
          <tr>
            {selectable && (
              <th className={classes['pick']}>
                <Checkbox
                  aria-label={t('common.table.selectPage')}
                  checked={picked > 0 && picked === rows.length}
                  indeterminate={picked > 0 && picked < rows.length}
                  onChange={(event) => pickAll(event.currentTarget.checked)}
                />
              </th>
            )}
            {columns.map((column) => (
              <Head key={column.key} column={column} words={words} state={state} />
            ))}
            <th className={classes['more']}>
              <span className="hidden-text">{t('common.table.actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {before > 0 && <Spacer height={before} span={span} />}
          {visible.map((line) => {
            if (line.kind === 'group')
              return (
                <tr key={`group ${line.group.key}`} className={classes['group']}>
                  <th colSpan={span} scope="colgroup">
                    <button
                      type="button"
                      className={classes['fold']}
                      aria-expanded={!line.folded}
                      onClick={() => fold(line.group.key)}
                    >
                      <IconChevronRight size={15} stroke={1.6} aria-hidden />
                      {line.group.label}
                    </button>
                  </th>
                </tr>
              );
            const { row, index } = line;
            const model = models.get(row.id);
            const isPicked = selected[row.id] ?? false;
            const actions = props.actionsOf(row);
            return (
              <tr
                key={row.id}
                className={classes['row']}
                tabIndex={-1}
                data-selected={isPicked || undefined}
                {...(virtual && { 'aria-rowindex': index + 2 })}
                onKeyDown={(event) => onKey(event, index)}
                onClick={(event) =>
                  event.target instanceof Element &&
                  !event.target.closest('a,button,input,label') &&
                  event.currentTarget.focus()
                }
                onContextMenu={(event) => {
                  if (actions.length === 0) return;
                  event.preventDefault();
                  setMenu(row.id);
                }}
              >
                {selectable && (
                  <td className={classes['pick']}>
                    <Checkbox
                      aria-label={t('common.table.selectRow', { name: nameOf(row) })}
                      checked={isPicked}
                      onChange={() => {}}
                      onClick={(event) => pick(index, !isPicked, event.shiftKey)}
                    />
                  </td>
                )}
                {model?.getAllCells().map((cell, i) => {
                  const column = columns[i];
                  if (!column) return null;
                  return (
                    // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- what is in the cell has its own label
                    <td
                      key={cell.id}
                      data-priority={column.priority}
                      data-number={isNumber(column) || undefined}
                      data-first={i === 0 || undefined}
                      data-flexible={column.flexible || undefined}
                      data-time={column.as === 'time' || undefined}
                    >
                      <table.FlexRender cell={cell} />
                    </td>
                  );
                })}
                <td className={classes['more']}>
                  <RowMenu
                    name={nameOf(row)}
                    actions={actions}
                    onRun={(action) => props.runOne(action, row)}
                    opened={menu === row.id}
                    onOpened={(opened) => setMenu(opened ? row.id : null)}
                  />
                </td>
              </tr>
            );
          })}
          {after > 0 && <Spacer height={after} span={span} />}
        </tbody>
      </table>
    </section>
  );
}

/** Stands for the rows outside the window. */
const Spacer = ({ height, span }: { height: number; span: number }) => (
  <tr aria-hidden>
    {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- empty, and hidden with its row */}
    <td colSpan={span} style={{ height, padding: 0, border: 0 }} />
  </tr>
);

function focusRow(from: HTMLElement, move: number) {
  let next = move > 0 ? from.nextElementSibling : from.previousElementSibling;
  while (next && !next.classList.contains(classes['row'] ?? ''))
    next = move > 0 ? next.nextElementSibling : next.previousElementSibling;
  if (next instanceof HTMLElement) next.focus();
}

interface HeadProps<Row> {
  column: Column<Row>;
  words: string;
  state: TableState;
}

function Head<Row>({ column, words, state }: HeadProps<Row>) {
  const t = useT();
  const key = column.sort === false ? null : (column.sort ?? column.key);
  const sortable = key !== null && state.list.sortable.includes(key);
  const sorted = sortable && state.sortBy === key ? (state.orderBy === 'asc' ? 'ascending' : 'descending') : undefined;
  const title = titleOf(column, words);
  const Arrow = sorted === 'ascending' ? IconArrowUp : IconArrowDown;
  return (
    <th
      scope="col"
      data-priority={column.priority}
      data-number={isNumber(column) || undefined}
      data-flexible={column.flexible || undefined}
      {...(sortable && { 'aria-sort': sorted ?? 'none' })}
    >
      {sortable ? (
        <button type="button" className={classes['sort']} data-sorted={sorted} onClick={() => state.setSort(key)}>
          {title}
          {sorted && (
            <Arrow
              size={13}
              stroke={1.8}
              aria-label={t(sorted === 'ascending' ? 'common.table.sortedAscending' : 'common.table.sortedDescending')}
            />
          )}
        </button>
      ) : (
        title
      )}
    </th>
  );
}
