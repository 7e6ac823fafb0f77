import type { Endpoint, Received } from '@edgeloom/contract/endpoint.ts';
import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import * as format from '../../lib/format.ts';
import { to as inConsole } from '../../lib/family.ts';
import { tMaybe, t, type Word } from '../../lib/i18n.ts';
import { Bits, Bytes, Count, Nothing, Tags, Time } from '../values/values.tsx';
import classes from './resource-table.module.css';

/** A row of a list as it comes over the wire. */
export type RowOf<E extends Endpoint> = Received<E> extends { data: (infer Row)[] } ? Row : never;
export type AnyRow = object;

export interface Column<Row> {
  /** A field of the row, or any name when `render` makes the cell. */
  key: (keyof Row & string) | (string & {});
  /** Default: `<feature>.fields.<key>`, else `common.fields.<key>`. */
  title?: Word;
  render?: (row: Row) => ReactNode;
  /** The cell in an exported file, where the field alone does not say it. */
  text?: (row: Row) => string;
  as?: 'text' | 'time' | 'bytes' | 'bits' | 'count' | 'tags';
  /** Of the identity: where its page is, as a path in this console. */
  to?: (row: Row) => string;
  align?: 'right';
  /** 2 leaves below 1280 px, 3 below 1600 px. */
  priority?: 1 | 2 | 3;
  /** A flexible column that may be cut takes the room that is left. */
  flexible?: boolean;
  /** The endpoint may sort by another name: `updatedAt` for `changed`. False: not at all. */
  sort?: string | false;
  /** The order of a list that takes no `sortBy`: the server always sorts by this column. */
  ordered?: 'asc' | 'desc';
  /** Off until it is chosen from the column menu. */
  hidden?: boolean;
  /** Exported also while it is off. */
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

/** The cell as text, for a file: numbers as they are, times and choices as they are read here. */
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

/** What a row is called, for labels: its first column as text. */
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
