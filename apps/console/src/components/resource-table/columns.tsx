import type { Endpoint, Received } from '@edgeloom/contract/endpoint.ts';
import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import * as format from '../../lib/format.ts';
import { to as inConsole } from '../../lib/family.ts';
import { tMaybe, t, type Word } from '../../lib/i18n.ts';
import { Bits, Bytes, Count, Nothing, Tags, Time } from '../values/values.tsx';
import classes from './resource-table.module.css';

/** A row of a list's response. */
export type RowOf<E extends Endpoint> = Received<E> extends { data: (infer Row)[] } ? Row : never;
export type AnyRow = object;

export interface Column<Row> {
  /** A field of the row, or any name with `render`. */
  key: (keyof Row & string) | (string & {});
  /** Defaults to `<feature>.fields.<key>` or `common.fields.<key>`. */
  title?: Word;
  render?: (row: Row) => ReactNode;
  /** Text of the cell in exports, when the field alone does not suffice. */
  text?: (row: Row) => string;
  as?: 'text' | 'time' | 'bytes' | 'bits' | 'count' | 'tags';
  /** For the identity column: path of the row's page. */
  to?: (row: Row) => string;
  align?: 'right';
  /** 2 is hidden below 1280 px, 3 below 1600 px. */
  priority?: 1 | 2 | 3;
  /** A flexible column takes the remaining width and may be truncated. */
  flexible?: boolean;
  /** Sort key of the endpoint, when it differs. False disables sorting. */
  sort?: string | false;
  /** The order of a list that takes no `sortBy`: the server always sorts by this column. */
  ordered?: 'asc' | 'desc';
  /** Off until it is chosen from the column menu. */
  hidden?: boolean;
  /** Exported even while hidden. */
  inFile?: boolean;
}

export const isNumber = <Row,>(column: Column<Row>) =>
  column.align === 'right' || column.as === 'bytes' || column.as === 'bits' || column.as === 'count';

export const titleOf = <Row,>(column: Column<Row>, words: string) =>
  column.title ? t(column.title) : fieldTitle(words, column.key);

export const fieldTitle = (words: string, name: string) =>
  tMaybe(`${words}.fields.${name}`) ?? tMaybe(`common.fields.${name}`) ?? name;

const fieldOf = (row: AnyRow, key: string): unknown => Object.entries(row).find(([name]) => name === key)?.[1];

export function cellOf<Row extends AnyRow>(column: Column<Row>, row: Row): ReactNode {
  const content = column.render ? column.render(row) : plain(column.as ?? 'text', fieldOf(row, column.key));
  if (!column.to) return content;
  const target = column.to(row);
  return (
    <Link to={/^[/?]/.test(target) ? target : inConsole(target)} className={classes['identity'] ?? ''}>
      {content}
    </Link>
  );
}

/** The cell as text for exports: raw numbers, formatted times and choices. */
export function textOf<Row extends AnyRow>(column: Column<Row>, row: Row, words: string): string {
  if (column.text) return column.text(row);
  const drawn = column.render?.(row);
  if (typeof drawn === 'string') return drawn;
  const value = fieldOf(row, column.key);
  if (column.as === 'time') return format.dateOf(momentOf(value)) ? format.time(momentOf(value)) : '';
  if (typeof value === 'boolean') return t(value ? 'common.yes' : 'common.no');
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return tMaybe(`${words}.choices.${column.key}.${value}`) ?? value;
  return Array.isArray(value) ? value.filter((item) => typeof item !== 'object').join(', ') : '';
}
const momentOf = (value: unknown) => (value instanceof Date || typeof value === 'string' ? value : null);

/** The row's accessible name: its first column as text. */
export function nameOf<Row extends AnyRow>(columns: readonly Column<Row>[], row: Row) {
  const [first] = columns;
  const value = first?.text?.(row) ?? (first && fieldOf(row, first.key));
  return typeof value === 'string' && value !== '' ? value : String(fieldOf(row, 'name') ?? fieldOf(row, 'id') ?? '');
}

function plain(as: NonNullable<Column<unknown>['as']>, value: unknown): ReactNode {
  if (value === null || value === undefined || value === '') return <Nothing />;
  if (as === 'time') return <Time at={value instanceof Date ? value : String(value)} />;
  if (as === 'tags') return <Tags of={Array.isArray(value) ? value.map(String) : []} />;
  if (typeof value === 'number') {
    if (as === 'bytes') return <Bytes of={value} />;
    if (as === 'bits') return <Bits of={value} />;
    return <Count of={value} />;
  }
  if (typeof value === 'boolean') return t(value ? 'common.yes' : 'common.no');
  return String(value);
}
