import type { ReactNode } from 'react';
import type { GroupTally } from './page-of-rows.ts';
import { prefer, usePreferences } from '../../stores/preferences.ts';

export interface GroupOf<Row> {
  /** Rows of one key stand together under a line of their own. */
  by: (row: Row) => string;
  /** `count` is of all rows of the group that match, on every page. */
  label: (key: string, rows: readonly Row[], count: number) => ReactNode;
}

export interface Grouped<Row> {
  key: string;
  label: ReactNode;
  rows: readonly Row[];
  /** It began on an earlier page; it goes on on the next one. */
  isContinued: boolean;
  continues: boolean;
}
/** The rows in the groups they belong to, in the order the groups first appear; one nameless group when there are none. */
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

/** Rows and group lines in the order they are shown; a folded group keeps its line only. */
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

/** Groups that are folded away, remembered by table. */
export function useFolded(table: string) {
  const folded = usePreferences((preferences) => preferences.folded[table]) ?? none;
  const fold = (key: string) => {
    const next = folded.includes(key) ? folded.filter((one) => one !== key) : [...folded, key];
    prefer(({ folded: all }) => ({ folded: { ...all, [table]: next } }));
  };
  return { folded, fold };
}
const none: readonly string[] = [];
