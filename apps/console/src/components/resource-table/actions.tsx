import type { Endpoint, Received, Sent } from '@edgeloom/contract/endpoint.ts';
import { IconArrowRight, IconPencil, IconPower, IconTrash, type Icon } from '@tabler/icons-react';
import type { MouseEvent, ReactElement, ReactNode } from 'react';
import type { Word } from '../../lib/i18n.ts';

interface Question {
  title?: string;
  verb?: string;
  points?: readonly ReactNode[];
  type?: string | undefined;
}
interface Common {
  label: Word;
  icon: Icon;
  danger?: boolean;
  /** Placed behind "More" in the bulk bar. */
  more?: boolean;
  /** Prefix of an error message. */
  failed?: Word;
}
/** Calls an endpoint with a body made from the rows. */
export interface CallAction<Row> extends Common {
  kind: 'call';
  endpoint: Endpoint;
  /** Rows that the action would change. Other rows are listed as skipped. */
  applies: (row: Row) => boolean;
  send: (rows: readonly Row[]) => object;
  /** Why the others are skipped. */
  skips: Word;
  /** Confirmation of the action. Bulk actions always show a preview. */
  confirm: null | ((names: readonly string[], rows: readonly Row[]) => Question);
  done: Word;
  /** Called with the response, for example to follow a job. */
  after?(reply: unknown, rows: readonly Row[]): void;
  refreshes: readonly string[];
  /** Calls that restore the previous value of each row. */
  undo: null | ((rows: readonly Row[]) => readonly Reverse[]);
}
/** An undo call for some rows. */
export interface Reverse {
  ids: readonly string[];
  /** Endpoint of the undo call, if it differs from the action's. */
  endpoint?: Endpoint;
  send: (ids: readonly string[]) => object;
}
/** Opens a form in the drawer. */
export interface OpenAction extends Common {
  kind: 'open';
  element: ReactElement;
  title: Word;
  can: Endpoint['can'];
  /** A click on the row and Enter open it, for rows without a page. */
  ofRow?: boolean;
  wide?: boolean;
}
export interface GoAction extends Common {
  kind: 'go';
  /** Full path: `/client/…`. */
  to: string;
}
export interface RunAction<Row> extends Common {
  kind: 'run';
  run: (rows: readonly Row[]) => void | Promise<void>;
  can: Endpoint['can'];
  own?: Endpoint['own'];
}
export type RowAction<Row> = CallAction<Row> | OpenAction | GoAction | RunAction<Row>;
export type BulkAction<Row> = CallAction<Row> | RunAction<Row>;

/** Endpoints whose body has this shape. */
type Taking<E extends Endpoint, Body> =
  Sent<E> extends { body: infer Asked } ? (Body extends Asked ? E : never) : never;
type IdsBody = { ids: string[] };
type EnablingBody = { ids: string[]; enabled: boolean };

interface Row {
  id: string;
}
type Made = 'kind' | 'endpoint' | 'send' | 'after';
interface Does<R, E extends Endpoint> extends Common, Partial<Omit<CallAction<R>, Made | keyof Common>> {
  done: Word;
  send: (rows: readonly R[]) => Sent<E> & object;
  after?(reply: Received<E>, rows: readonly R[]): void;
}
/** A custom call, when none of the actions below fits. */
export const does = <R, E extends Endpoint>(endpoint: E, given: Does<R, E>): CallAction<R> => ({
  kind: 'call',
  endpoint,
  applies: () => true,
  skips: 'shared.rows.already',
  confirm: null,
  refreshes: [],
  undo: null,
  ...given,
});

interface Choices<R> {
  label?: Word;
  done?: Word;
  refreshes?: readonly string[];
  applies?: (row: R) => boolean;
  skips?: Word;
  confirm?: CallAction<R>['confirm'];
}

const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id);

/** One undo call per distinct previous value. */
export const backTo = <R extends Row, Value>(
  rows: readonly R[],
  valueOf: (row: R) => Value,
  send: (ids: readonly string[], value: Value) => object,
): Reverse[] =>
  [...Map.groupBy(rows, (row) => JSON.stringify(valueOf(row))).values()].flatMap((some) => {
    const [first] = some;
    return first === undefined ? [] : [{ ids: idsOf(some), send: (ids) => send(ids, valueOf(first)) }];
  });

/** Opens the row's form. Without an endpoint the action needs no permission. */
export const edit = (
  element: ReactElement,
  {
    label = 'common.edit',
    title = label,
    can = 'signedIn',
  }: { label?: Word; title?: Word; can?: Endpoint['can'] } = {},
): OpenAction => ({
  kind: 'open',
  label,
  title,
  icon: IconPencil,
  element,
  can,
});

export const open = (given: {
  label: Word;
  icon: Icon;
  element: ReactElement;
  title?: Word;
  can?: Endpoint['can'];
  ofRow?: boolean;
  wide?: boolean;
}): OpenAction => ({
  kind: 'open',
  title: given.label,
  can: 'signedIn',
  ...given,
});

export const go = (given: { label: Word; to: string; icon?: Icon }): GoAction => ({
  kind: 'go',
  icon: IconArrowRight,
  ...given,
});

export const act = <R,>(given: {
  label: Word;
  icon: Icon;
  run: RunAction<R>['run'];
  can?: Endpoint['can'];
  own?: true;
  danger?: boolean;
  more?: boolean;
}): RunAction<R> => ({
  kind: 'run',
  can: 'signedIn',
  ...given,
});

/** Confirms first. Enabled entries must be disabled before; `applies` selects removable rows. */
export const remove = <R extends Row, E extends Endpoint>(
  endpoint: Taking<E, IdsBody>,
  choices: Choices<R> = {},
): CallAction<R> => ({
  kind: 'call',
  label: 'common.remove',
  icon: IconTrash,
  danger: true,
  endpoint,
  refreshes: [],
  done: 'common.removed',
  undo: null,
  applies: () => true,
  skips: 'shared.confirm.firstOff',
  confirm: () => ({}),
  send: (rows) => ({ body: { ids: idsOf(rows) } }),
  ...choices,
});

const switching =
  (enabled: boolean, label: Word, done: Word) =>
  <R extends Row, E extends Endpoint>(endpoint: Taking<E, EnablingBody>, choices: Choices<R> = {}): CallAction<R> => ({
    kind: 'call',
    label,
    icon: IconPower,
    danger: !enabled,
    endpoint,
    refreshes: [],
    done,
    applies: () => true,
    skips: 'shared.rows.already',
    confirm: null,
    send: (rows) => ({ body: { ids: idsOf(rows), enabled } }),
    undo: (rows) => [{ ids: idsOf(rows), send: (ids) => ({ body: { ids, enabled: !enabled } }) }],
    ...choices,
  });
export const turnOn = switching(true, 'common.turnOn', 'common.turnedOn');
export const turnOff = switching(false, 'common.turnOff', 'common.turnedOff');

/** The action of a click on the row. */
export const rowOpener = <Row,>(actions: readonly RowAction<Row>[]) =>
  actions.find((action) => action.kind === 'open' && action.ofRow === true);

const CONTROLS = 'a, button, input, label';
/** Whether a click is meant for the row: not for a control in it or its menu, and not the end of a text selection. */
export const isRowClick = ({ target, currentTarget }: Pick<MouseEvent, 'target' | 'currentTarget'>) =>
  target instanceof Element &&
  currentTarget.contains(target) &&
  !target.closest(CONTROLS) &&
  (document.getSelection()?.isCollapsed ?? true);
