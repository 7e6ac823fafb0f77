import { IconDatabase, type Icon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { tMaybe, useT, type Word } from '../../lib/i18n.ts';
import type { Result } from '../../lib/use-endpoint.ts';
import { EmptyState, FailedState } from '../states/states.tsx';
import type { Filter } from './filter-chip.tsx';
import { filtersInWords } from './filters.tsx';
import type { PageOfRows } from './page-of-rows.ts';
import type { TableState } from './table-state.ts';
import { NothingMatches, TableSkeleton } from './table-states.tsx';

interface ListBodyProps {
  result: Result<unknown>;
  page: PageOfRows<unknown> | null;
  columns: number;
  /** Name of the list. */
  name: string;
  empty: ReactNode;
  children: ReactNode;
}

/** The rows, or the loading, error or empty state. */
export function ListBody({ result, page, columns, name, empty, children }: ListBodyProps) {
  if (!page)
    return result.error ? (
      <FailedState error={result.error} retry={result.retry} needs={result.needs} of={name} />
    ) : (
      <TableSkeleton columns={columns} />
    );
  return page.data.length === 0 ? empty : children;
}

export interface Empty {
  icon?: Icon;
  text?: Word;
  action?: ReactNode;
}
interface NoRowsProps {
  words: string;
  state: TableState;
  filters: readonly Filter[];
  empty: Empty | undefined;
}

export function NoRows({ words, state, filters, empty }: NoRowsProps) {
  const t = useT();
  if (state.filtered) return <NothingMatches filters={filtersInWords(state, filters, words)} onClear={state.clear} />;
  return (
    <EmptyState
      icon={empty?.icon ?? IconDatabase}
      title={tMaybe(`${words}.empty.title`) ?? t('common.states.empty')}
      text={empty?.text ? t(empty.text) : tMaybe(`${words}.empty.text`)}
      action={empty?.action}
    />
  );
}
