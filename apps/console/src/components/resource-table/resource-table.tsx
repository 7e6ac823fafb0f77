import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { Button } from '@mantine/core';
import { useEffect, useMemo, useState, type ComponentType, type ReactNode } from 'react';
import { clock, count } from '../../lib/format.ts';
import { useT, type Word } from '../../lib/i18n.ts';
import { useEndpoint, type Result } from '../../lib/use-endpoint.ts';
import { useLetterKeys } from '../../lib/use-letter-keys.ts';
import { usePhone } from '../../lib/use-phone.ts';
import { useSetCount } from '../page/page.tsx';
import { usePlace } from '../page/place.ts';
import { StatusMark } from '../status/status-mark.tsx';
import type { BulkAction, RowAction } from './actions.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { ColumnMenu } from './column-menu.tsx';
import { nameOf, type Column, type RowOf } from './columns.tsx';
import type { Question } from './every-row.ts';
import { ExportButton } from './export-button.tsx';
import { Grid, type PhoneRow } from './grid.tsx';
import type { GroupOf } from './lines.ts';
import { Pager } from './pager.tsx';
import { PhoneRows } from './phone-rows.tsx';
import { NewRowsLine } from './new-rows-line.tsx';
import { OrderNote, startingOrder } from './order.tsx';
import { useReveal } from './reveal.ts';
import { useAllowed, useRunAction } from './run-actions.tsx';
import { SavedViews } from './saved-views.tsx';
import { useKeptFocus } from './use-kept-focus.ts';
import { useSelection } from './use-selection.ts';
import { useStableOrder } from './stable-order.ts';
import type { Filter } from './filter-chip.tsx';
import { ListBody, NoRows, type Empty } from './list-body.tsx';
import { pageOf, type Identified, type PageOfRows } from './page-of-rows.ts';
import { Toolbar } from './toolbar.tsx';
import { sentOf } from './sent.ts';
import { useNewRows } from './use-new-rows.ts';
import { useTableState, type TableState } from './table-state.ts';
import { useColumnChoice, type ColumnChoice } from './use-column-choice.ts';
import classes from './resource-table.module.css';

export type { GroupOf } from './lines.ts';

interface ResourceTableProps<E extends Endpoint, Row extends Identified> {
  endpoint: E;
  /** Path parameters. */
  params?: Readonly<Record<string, string>>;
  /** Fixed query parameters. */
  query?: Readonly<Record<string, unknown>>;
  columns: readonly Column<Row>[];
  /** Actions of a row, in its menu and context menu. */
  row?: (row: Row) => readonly RowAction<Row>[];
  bulk?: readonly BulkAction<Row>[];
  /** Query parameter of the search text. */
  search?: string;
  filters?: readonly Filter[];
  pollMs?: number;
  /** Initial order, if it differs from the endpoint's: `-createdAt`. */
  sort?: string;
  group?: GroupOf<Row>;
  phone?: (row: Row) => PhoneRow;
  /** Locale namespace; defaults to the endpoint's feature. */
  words?: string;
  caption?: Word;
  /** Empty state with texts from `<words>.empty.…`. `text` is for lists that the reader cannot fill. */
  empty?: Empty;
  /** Rendered beside the column menu. */
  tools?: ReactNode;
  /** Wraps the rows, to read figures of all of them with one call. `ids` are sorted. */
  around?: ComponentType<{ ids: readonly string[]; children: ReactNode }>;
  /** Count in the page head, when more than a number: "214 of 300". */
  counted?: (total: number, rows: readonly Row[]) => ReactNode;
}

/**
 * A list with paging, search, filters, sorting, columns, selection, actions, polling, and all loading and error states.
 */
export function ResourceTable<E extends Endpoint>(props: ResourceTableProps<E, RowOf<E> & Identified>) {
  return <List<RowOf<E> & Identified> {...props} />;
}

function List<Row extends Identified>(props: ResourceTableProps<Endpoint, Row>) {
  const { endpoint, params, query, columns, search, filters = [], pollMs, words = endpoint.feature } = props;
  const state = useTableState(
    endpoint,
    filters.map(({ key }) => key),
    props.sort ?? startingOrder(endpoint, columns),
  );
  const asked = useMemo(() => questionOf(state, search, query), [state, search, query]);
  const result: Result<unknown> = useEndpoint(endpoint, sentOf(endpoint, params, asked), {
    ...(pollMs !== undefined && { pollMs }),
  });
  const page = pageOf<Row>(result.data);
  return <Listed {...props} columns={columns} words={words} state={state} result={result} page={page} asked={asked} />;
}

function questionOf(state: TableState, search: string | undefined, fixed: Readonly<Record<string, unknown>> = {}) {
  const { list, page, pageSize, sortBy, orderBy } = state;
  const chosen = Object.entries(state.filters).filter(([, values]) => values.length > 0);
  return {
    ...fixed,
    ...(list.paged && { page, pageSize }),
    ...(list.sortable.length > 0 && { sortBy, orderBy }),
    ...(search !== undefined && state.search !== '' && { [search]: state.search.trim() }),
    ...Object.fromEntries(chosen.map(([key, values]) => [key, values.map(momentOf)])),
  };
}

/** `P7D` is seven days ago, rounded to the hour, so that the query stays the same. */
function momentOf(value: string) {
  const days = /^P(\d+)D$/.exec(value)?.[1];
  if (days === undefined) return value;
  const hour = 3_600_000;
  return new Date(Math.floor(Date.now() / hour) * hour - Number(days) * 24 * hour).toISOString();
}

interface ListedProps<Row extends Identified> extends ResourceTableProps<Endpoint, Row> {
  words: string;
  state: TableState;
  result: Result<unknown>;
  page: PageOfRows<Row> | null;
  /** The query of the current rows. */
  asked: Readonly<Record<string, unknown>>;
}

const Unwrapped = ({ children }: { children: ReactNode }) => children;

function Listed<Row extends Identified>(props: ListedProps<Row>) {
  const { endpoint, params, columns, words, state, result, page, asked, filters = [], bulk = [], pollMs } = props;
  const { around: Around = Unwrapped } = props;
  const t = useT();
  const phone = usePhone();
  const allowed = useAllowed();
  const title = usePlace((place) => place.title);
  const view = JSON.stringify(asked);
  const { rows, moved, apply } = useStableOrder(page?.data ?? [], view, pollMs !== undefined);
  const question = { endpoint, params, query: asked };
  const ids = rows.map(({ id }) => id);
  const sortedIds = ids.toSorted().join(' ');
  const pageIds = useMemo(() => (sortedIds === '' ? [] : sortedIds.split(' ')), [sortedIds]);
  const fresh = useNewRows({
    feature: endpoint.feature,
    state,
    shown: ids,
    question,
    unfiltered: questionOf({ ...state, search: '', filters: {}, page: 1 }, props.search, props.query),
    canSearch: props.search !== undefined,
    focus: focusRow,
  });
  const selection = useSelection(view, rows, question);
  const { selected, setSelected, chosen } = selection;
  const choice = useColumnChoice(endpoint.feature, columns, state);
  const total = totalOf(page);
  const actions = allowed<Row, BulkAction<Row>>(bulk);
  const label = (row: Row) => nameOf(columns, row);
  const clear = () => setSelected({});
  const { runOne, runBulk, progress } = useRowActions({ params, nameOf: label, chosen, clear });
  useLetterKeys(chosen.length > 0 ? { Escape: clear } : {});
  usePageCount(props, total);
  useReveal((target) => {
    const row = rows.find((one) => one.id === target || label(one) === target);
    return row ? () => focusRow(row.id) : null;
  });
  const { keepFocus, focusLastRow } = useKeptFocus(ids);
  const list = {
    rows,
    columns: choice.shown,
    words,
    state,
    selected,
    setSelected,
    actionsOf: (row: Row) => allowed<Row, RowAction<Row>>(props.row?.(row) ?? []),
    runOne,
    nameOf: label,
    selectable: actions.length > 0,
    caption: t(props.caption ?? title ?? 'app.product'),
    endpoint,
    fresh: fresh.ids,
    ...(props.group && { group: props.group }),
    ...(page?.groups && { tallies: page.groups }),
    ...(props.phone && { phone: props.phone }),
  };
  return (
    <div className={classes['list']} data-selecting={chosen.length > 0 || undefined} onFocusCapture={keepFocus}>
      <ListToolbar
        {...props}
        question={question}
        choice={choice}
        listName={list.caption}
        {...(moved && { onNewOrder: apply })}
      />
      {fresh.rows?.isHidden && <NewRowsLine key={fresh.rows.made.ids.join()} {...fresh} rows={fresh.rows} />}
      {result.refreshing && <div className={classes['refreshing']} aria-hidden />}
      <ListBody
        result={result}
        page={page}
        columns={list.columns.length}
        name={list.caption}
        empty={<NoRows words={words} state={state} filters={filters} empty={props.empty} />}
      >
        <Around ids={pageIds}>{phone ? <PhoneRows {...list} /> : <Grid {...list} dimmed={result.refreshing} />}</Around>
      </ListBody>
      {chosen.length > 0 && (
        <BulkBar
          selected={chosen.length}
          matching={!selection.isEvery && chosen.length === rows.length && total > rows.length ? total : null}
          progress={selection.progress ?? progress}
          actions={actions}
          onRun={(action) => void runBulk(action)}
          onAll={() => void selection.selectEvery()}
          onClear={clear}
          onFocusLost={focusLastRow}
        />
      )}
      {state.list.paged && page && total > 0 && <Pager state={state} total={total} />}
    </div>
  );
}

const totalOf = (page: PageOfRows<unknown> | null) => page?.total ?? page?.data.length ?? 0;

interface ListToolbarProps<Row extends Identified> extends ListedProps<Row> {
  question: Question;
  choice: ColumnChoice<Column<Row>>;
  listName: string;
  /** Sorts the rows again, after newer values changed their order. */
  onNewOrder?: () => void;
}

/** Search, filters and tools above the list. */
function ListToolbar<Row extends Identified>(props: ListToolbarProps<Row>) {
  const { words, state, page, columns, search, filters = [], tools, pollMs, result, choice, onNewOrder } = props;
  const t = useT();
  const phone = usePhone();
  const total = totalOf(page);
  const isOrdered = total > 1 && (state.list.sortable.length > 0 || columns.some(({ ordered }) => ordered));
  if (phone && search === undefined && filters.length === 0 && !tools && !isOrdered) return null;
  return (
    <Toolbar words={words} state={state} search={search} filters={filters}>
      {tools}
      {page && total > 1 && <OrderNote state={state} columns={choice.shown} words={words} />}
      {onNewOrder && (
        <Button size="xs" variant="light" onClick={onNewOrder}>
          {t('shared.table.newOrder')}
        </Button>
      )}
      {pollMs !== undefined && page && <LiveNote result={result} pollMs={pollMs} />}
      {!phone && page && (total > 0 || state.filtered) && (
        <div className={classes['listTools']}>
          <SavedViews list={props.endpoint.feature} columns={choice.shown.slice(1).map(({ key }) => key)} />
          {columns.length > 2 && <ColumnMenu words={words} choice={choice} />}
          <ExportButton
            question={props.question}
            columns={choice.all.filter(({ key, inFile }) => inFile || choice.isShown(key))}
            words={words}
            name={props.listName}
          />
        </div>
      )}
    </Toolbar>
  );
}

/** How often the list polls, or since when polling fails. */
function LiveNote({ result, pollMs }: { result: Result<unknown>; pollMs: number }) {
  const t = useT();
  return (
    <span className={classes['live']}>
      <StatusMark tone={result.stale ? 'off' : 'ok'} />
      {result.stale
        ? t('shared.table.asOf', { time: clock(new Date(result.at)) })
        : t('shared.table.live', { seconds: pollMs / 1000 })}
    </span>
  );
}

/** Shows the number of unfiltered rows in the page head. */
function usePageCount<Row extends Identified>({ page, state, counted }: ListedProps<Row>, total: number) {
  const setCount = useSetCount();
  useEffect(() => {
    if (page && !state.filtered) setCount(counted ? counted(total, page.data) : count(total));
  }, [page, total, counted, setCount, state.filtered]);
  useEffect(() => () => setCount(null), [setCount]);
}

interface RowActionsOptions<Row> {
  params: Readonly<Record<string, string>> | undefined;
  nameOf: (row: Row) => string;
  /** The selected rows. */
  chosen: readonly Row[];
  clear: () => void;
}

/** Runs an action on one row or on the selected rows, which are deselected once it has started. */
function useRowActions<Row extends Identified>({ params, nameOf: label, chosen, clear }: RowActionsOptions<Row>) {
  const run = useRunAction<Row>();
  const [progress, setProgress] = useState<{ done: number; total: number } | null>(null);
  const runOne = (action: RowAction<Row>, row: Row) => void run(action, { rows: [row], nameOf: label, params });
  const runBulk = async (action: BulkAction<Row>) => {
    const onProgress = (done: number, of: number) => setProgress({ done, total: of });
    const isStarted = await run(action, { rows: chosen, nameOf: label, params, onProgress });
    setProgress(null);
    if (isStarted) clear();
  };
  return { runOne, runBulk, progress };
}

/** Focuses a row and scrolls to it if necessary. */
function focusRow(id: string, frames = FRAMES_TO_WAIT) {
  const row = document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`);
  if (row) row.focus();
  // The row is virtualized; the page scrolls to it first.
  else if (frames > 0) requestAnimationFrame(() => focusRow(id, frames - 1));
}
const FRAMES_TO_WAIT = 20;
