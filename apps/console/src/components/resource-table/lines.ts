import type { ReactNode } from 'react';
import type { GroupTally } from './page-of-rows.ts';
import { prefer, usePreferences } from '../../stores/preferences.ts';

export interface GroupOf<Row> {
  /** Rows with the same key form a group. */
  by: (row: Row) => string;
  /** `count` is the number of matching rows on all pages. */
  label: (key: string, rows: readonly Row[], count: number) => ReactNode;
}

export interface Grouped<Row> {
  key: string;
  label: ReactNode;
  rows: readonly Row[];
  /** The group started on an earlier page, or continues on the next. */
  isContinued: boolean;
  continues: boolean;
}
/** Groups in the order of first appearance; a single unnamed group without grouping. */
export function grouped<Row>(
  rows: readonly Row[],
  group: GroupOf<Row> | undefined,
  tallies: readonly GroupTally[] = [],
): Grouped<Row>[] {
  if (!group) return [{ key: '', label: null, rows, isContinued: false, continues: false }];
  return [...Map.groupBy(rows, group.by)].map(([key, members]) => {
    const { count, before } = tallies.find(({ id }) => id === key) ?? { count: members.length, before: 0 };
    return {
      key,
      label: group.label(key, members, count),
      rows: members,
      isContinued: before > 0,
      continues: before + members.length < count,
    };
  });
}

export type Line<Row> =
  | { kind: 'group'; group: Grouped<Row>; folded: boolean }
  | { kind: 'row'; row: Row; index: number };

/** Rows and group lines in display order. A collapsed group has only its line. */
export function linesOf<Row>(
  rows: readonly Row[],
  group: GroupOf<Row> | undefined,
  folded: readonly string[],
  tallies?: readonly GroupTally[],
): Line<Row>[] {
  return grouped(rows, group, tallies).flatMap((one): Line<Row>[] => {
    const closed = folded.includes(one.key);
    const members = one.rows.map((row): Line<Row> => ({ kind: 'row', row, index: rows.indexOf(row) }));
    return one.label === null ? members : [{ kind: 'group', group: one, folded: closed }, ...(closed ? [] : members)];
  });
}

/** Collapsed groups, stored per table. */
export function useFolded(table: string) {
  const folded = usePreferences((preferences) => preferences.folded[table]) ?? none;
  const fold = (key: string) => {
    const next = folded.includes(key) ? folded.filter((one) => one !== key) : [...folded, key];
    prefer(({ folded: all }) => ({ folded: { ...all, [table]: next } }));
  };
  return { folded, fold };
}
const none: readonly string[] = [];
