import type { ReactNode } from 'react';
import type { Filter } from './filter-chip.tsx';
import { Filters } from './filters.tsx';
import { SearchBox } from './search-box.tsx';
import type { TableState } from './table-state.ts';
import classes from './resource-table.module.css';

interface ToolbarProps {
  words: string;
  state: TableState;
  search: string | undefined;
  filters: readonly Filter[];
  children?: ReactNode;
}

export function Toolbar({ words, state, search, filters, children }: ToolbarProps) {
  return (
    <div className={classes['toolbar']}>
      {search !== undefined && <SearchBox words={words} state={state} />}
      {filters.length > 0 && <Filters words={words} state={state} filters={filters} />}
      <div className={classes['toolbarEnd']}>{children}</div>
    </div>
  );
}
