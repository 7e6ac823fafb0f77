import { createColumnHelper, tableFeatures, useTable } from '@tanstack/react-table';
import { useMemo, type ReactNode } from 'react';
import { cellOf, titleOf, type Column } from './columns.tsx';
import type { Identified } from './page-of-rows.ts';

// The server sorts, pages and filters; selection and columns are stored outside.
const features = tableFeatures({});

/** Renders the cells of a row by its id. */
export function useCells<Row extends Identified>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  words: string,
): (id: string) => readonly ReactNode[] {
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
  return (id) =>
    models
      .get(id)
      ?.getAllCells()
      .map((cell) => <table.FlexRender key={cell.id} cell={cell} />) ?? [];
}
