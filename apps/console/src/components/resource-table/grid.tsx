import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { Checkbox } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import { useRef, useState, type ReactNode } from 'react';
import { useT } from '../../lib/i18n.ts';
import type { RowAction } from './actions.tsx';
import type { Column } from './columns.tsx';
import { ColumnHead } from './grid-head.tsx';
import { GridRow } from './grid-row.tsx';
import { GroupEnds } from './group-ends.tsx';
import { linesOf, useFolded, type Grouped, type GroupOf } from './lines.ts';
import type { GroupTally, Identified } from './page-of-rows.ts';
import type { TableState } from './table-state.ts';
import { useCells } from './use-cells.tsx';
import type { Selection, SetSelection } from './use-selection.ts';
import { useVirtualLines } from './use-virtual-lines.ts';
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

/** The table for wide screens. */
export function Grid<Row extends Identified>(props: GridProps<Row>) {
  const { rows, columns, words, caption, selectable, selected, group, tallies, fresh = [], dimmed = false } = props;
  const scroller = useRef<HTMLElement>(null);
  const [menu, setMenu] = useState<string | null>(null);
  const cellsOf = useCells(rows, columns, words);
  const { folded, fold } = useFolded(props.endpoint.feature);
  const lines = linesOf(rows, group, folded, tallies);
  const { isVirtual, rendered, before, after } = useVirtualLines(lines, scroller, fresh);
  const { select, selectAll } = useRangeSelection(rows, props.setSelected);
  const span = columns.length + (selectable ? 1 : 0) + 1;
  return (
    <section
      ref={scroller}
      className={classes['scroller']}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable regions need keyboard access
      tabIndex={0}
      aria-label={caption}
      data-dimmed={dimmed || undefined}
    >
      <table className={classes['table']} {...(isVirtual && { 'aria-rowcount': rows.length + 1 })}>
        <caption className="hidden-text">{caption}</caption>
        <GridHead {...props} onSelectAll={selectAll} />
        <tbody>
          {before > 0 && <Spacer height={before} span={span} />}
          {rendered.map((line) =>
            line.kind === 'group' ? (
              <GroupLine
                key={`group ${line.group.key}`}
                group={line.group}
                isFolded={line.folded}
                span={span}
                onFold={() => fold(line.group.key)}
              />
            ) : (
              <GridRow
                key={line.row.id}
                id={line.row.id}
                name={props.nameOf(line.row)}
                columns={columns}
                cells={cellsOf(line.row.id)}
                actions={props.actionsOf(line.row)}
                selectable={selectable}
                picked={selected[line.row.id] ?? false}
                isNew={fresh.includes(line.row.id)}
                place={isVirtual ? line.index + 2 : null}
                menuOpened={menu === line.row.id}
                onMenu={(opened) => setMenu(opened ? line.row.id : null)}
                onPick={(on, isRange) => select(line.index, on, isRange)}
                onRun={(action) => props.runOne(action, line.row)}
              />
            ),
          )}
          {after > 0 && <Spacer height={after} span={span} />}
        </tbody>
      </table>
    </section>
  );
}

interface GridHeadProps<Row extends Identified> extends Pick<
  GridProps<Row>,
  'rows' | 'columns' | 'words' | 'state' | 'selectable' | 'selected'
> {
  onSelectAll: (on: boolean) => void;
}

function GridHead<Row extends Identified>(props: GridHeadProps<Row>) {
  const { rows, columns, words, state, selectable, selected, onSelectAll } = props;
  const t = useT();
  const count = rows.filter(({ id }) => selected[id]).length;
  return (
    <thead>
      <tr>
        {selectable && (
          <th className={classes['pick']}>
            <Checkbox
              aria-label={t('shared.table.selectPage')}
              checked={count > 0 && count === rows.length}
              indeterminate={count > 0 && count < rows.length}
              onChange={(event) => onSelectAll(event.currentTarget.checked)}
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
  );
}

interface GroupLineProps<Row> {
  group: Grouped<Row>;
  isFolded: boolean;
  span: number;
  onFold: () => void;
}

function GroupLine<Row>({ group, isFolded, span, onFold }: GroupLineProps<Row>) {
  return (
    <tr className={classes['group']}>
      <th colSpan={span} scope="colgroup">
        <button type="button" className={classes['fold']} aria-expanded={!isFolded} onClick={onFold}>
          <IconChevronRight size={15} stroke={1.6} aria-hidden />
          {group.label}
          <GroupEnds {...group} />
        </button>
      </th>
    </tr>
  );
}

/** Selects single rows, ranges from the row selected last, and all rows of the page. */
function useRangeSelection(rows: readonly Identified[], setSelected: SetSelection) {
  const last = useRef<number | null>(null);
  const select = (index: number, on: boolean, isRange: boolean) => {
    const from = isRange && last.current !== null ? last.current : index;
    last.current = index;
    const ids = rows.slice(Math.min(from, index), Math.max(from, index) + 1).map(({ id }) => [id, on] as const);
    setSelected((all) => ({ ...all, ...Object.fromEntries(ids) }));
  };
  const selectAll = (on: boolean) => setSelected(on ? Object.fromEntries(rows.map(({ id }) => [id, true])) : {});
  return { select, selectAll };
}

/** Placeholder for virtualized rows. */
const Spacer = ({ height, span }: { height: number; span: number }) => (
  <tr aria-hidden>
    {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- empty, and hidden with its row */}
    <td colSpan={span} style={{ height, padding: 0, border: 0 }} />
  </tr>
);
