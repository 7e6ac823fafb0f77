import { Menu } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { t, useT } from '../../lib/i18n.ts';
import { choiceOf, FilterChip, labelOf, type Filter } from './filter-chip.tsx';
import type { TableState } from './table-state.ts';
import classes from './resource-table.module.css';

interface FiltersProps {
  words: string;
  state: TableState;
  filters: readonly Filter[];
}

/** Active filters as chips; the others behind a plus button. */
export function Filters({ words, state, filters }: FiltersProps) {
  const t = useT();
  const [adding, setAdding] = useState<string | null>(null);
  const set = filters.filter(({ key }) => (state.filters[key] ?? []).length > 0 || key === adding);
  const unset = filters.filter((filter) => !set.includes(filter));
  return (
    <>
      {set.map((filter) => (
        <FilterChip
          key={filter.key}
          words={words}
          filter={filter}
          values={state.filters[filter.key] ?? []}
          startOpen={filter.key === adding}
          onChange={(values) => state.setFilter(filter.key, values)}
          onClose={() => setAdding(null)}
          onRemove={() => {
            setAdding(null);
            state.setFilter(filter.key, []);
          }}
        />
      ))}
      {unset.length > 0 && (
        <Menu position="bottom-start">
          <Menu.Target>
            <button type="button" className={classes['addFilter']} data-add-filter>
              <IconPlus size={14} stroke={1.6} aria-hidden />
              {t('shared.table.filter')}
            </button>
          </Menu.Target>
          <Menu.Dropdown>
            {unset.map((filter) => (
              <Menu.Item key={filter.key} onClick={() => setAdding(filter.key)}>
                {labelOf(filter, words)}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  );
}

/** Active filters as text, for a list that they leave empty. */
export const filtersInWords = (state: TableState, filters: readonly Filter[], words: string) => [
  ...(state.search ? [state.search] : []),
  ...filters.flatMap((filter) => {
    const values = state.filters[filter.key] ?? [];
    if (values.length === 0) return [];
    const named = values.map((value) => choiceOf(filter, words, value)).join(t('common.comma'));
    // Names of ids are shown by the chip.
    return filter.choices
      ? [`${labelOf(filter, words)} ${t(values.length > 1 ? 'shared.table.isOneOf' : 'shared.table.is')} ${named}`]
      : [labelOf(filter, words)];
  }),
];
