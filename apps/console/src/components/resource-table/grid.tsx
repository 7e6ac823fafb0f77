import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { Checkbox } from '@mantine/core';
import { createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { IconChevronRight } from '@tabler/icons-react';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useT } from '../../lib/i18n.ts';
import { usePreferences } from '../../stores/preferences.ts';
import type { RowAction } from './actions.tsx';
import { cellOf, titleOf, type Column } from './columns.tsx';
import { ColumnHead } from './grid-head.tsx';
import { GridRow } from './grid-row.tsx';
import { GroupEnds } from './group-ends.tsx';
import { linesOf, useFolded, type GroupOf } from './lines.ts';
import type { GroupTally, Identified } from './page-of-rows.ts';
import type { TableState } from './table-state.ts';
import type { Selection, SetSelection } from './use-selection.ts';
import classes from './resource-table.module.css';

export interface PhoneRow {
  /** The first line, if it is not the first column. */
  name?: ReactNode;
  below: ReactNode;
  end?: ReactNode;
}
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
  tallies?: readonly GroupTally[];
  phone?: (row: Row) => PhoneRow;
  dimmed?: boolean;
  /** Ids of newly created rows. */
  fresh?: readonly string[];
}

// The server sorts, pages and filters; selection and columns are stored outside.
const features = tableFeatures({});
/** Above this number of rows the table is virtualized. */
const virtualFrom = 200;

/** The table for wide screens. */
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

  const { folded, fold } = useFolded(endpoint.feature);
  const lines = linesOf(rows, group, folded, props.tallies);
  const virtual = lines.length > virtualFrom;
  const rowHeight = usePreferences(({ density }) => (density === 'roomy' ? 44 : 36));
  // oxlint-disable-next-line react/incompatible-library -- its values are used only in this render
  const virtualizer = useVirtualizer({
    count: virtual ? lines.length : 0,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (lines[index]?.kind === 'group' ? 32 : rowHeight),
    overscan: 12,
  });
  const newLine = lines.findIndex((line) => line.kind === 'row' && props.fresh?.includes(line.row.id));
  useEffect(() => {
    if (virtual && newLine >= 0) virtualizer.scrollToIndex(newLine, { align: 'center' });
  }, [virtual, virtualizer, newLine]);
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

  return (
    <section
      ref={scroller}
      className={classes['scroller']}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable regions need keyboard access
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
                  aria-label={t('shared.table.selectPage')}
                  checked={picked > 0 && picked === rows.length}
                  indeterminate={picked > 0 && picked < rows.length}
                  onChange={(event) => pickAll(event.currentTarget.checked)}
                />
              </th>
            )}
            {columns.map((column) => (
              <ColumnHead key={column.key} column={column} words={words} state={state} />
            ))}
            <th className={classes['more']}>
              <span className="hidden-text">{t('shared.table.actions')}</span>
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
                      <GroupEnds {...line.group} />
                    </button>
                  </th>
                </tr>
              );
            const { row, index } = line;
            const cells = models.get(row.id)?.getAllCells() ?? [];
            return (
              <GridRow
                key={row.id}
                id={row.id}
                name={nameOf(row)}
                columns={columns}
                cells={cells.map((cell) => (
                  <table.FlexRender key={cell.id} cell={cell} />
                ))}
                actions={props.actionsOf(row)}
                selectable={selectable}
                picked={selected[row.id] ?? false}
                isNew={props.fresh?.includes(row.id) ?? false}
                place={virtual ? index + 2 : null}
                menuOpened={menu === row.id}
                onMenu={(opened) => setMenu(opened ? row.id : null)}
                onPick={(on, range) => pick(index, on, range)}
                onRun={(action) => props.runOne(action, row)}
              />
            );
          })}
          {after > 0 && <Spacer height={after} span={span} />}
        </tbody>
      </table>
    </section>
  );
}

/** Placeholder for virtualized rows. */
const Spacer = ({ height, span }: { height: number; span: number }) => (
  <tr aria-hidden>
    {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- empty, and hidden with its row */}
    <td colSpan={span} style={{ height, padding: 0, border: 0 }} />
  </tr>
);
