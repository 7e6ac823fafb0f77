import { Menu } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { family } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { FilterChip } from './filter-chip.tsx';
import { filters, labelOf } from './filters.ts';
import { isNegatable, type FilterKey } from './log-state.ts';
import { PeriodChip } from './period-chip.tsx';
import { SavedSearches } from './saved-searches.tsx';
import { SearchField } from './search-field.tsx';
import type { LogPageState } from './use-log-page.ts';
import chips from '../../components/resource-table/resource-table.module.css';
import classes from './logs.module.css';

interface Adding {
  key: FilterKey;
  isNot: boolean;
}

/** Time, filters, search, saved searches. */
export function Toolbar({ page }: { page: LogPageState }) {
  const t = useT();
  const [adding, setAdding] = useState<Adding | null>(null);
  const { state, valuesOf } = page;
  const chosen = filters.flatMap((filter) =>
    [false, true]
      .filter((isNot) => !isNot || isNegatable(filter.key))
      .filter((isNot) => {
        const isAdding = adding?.key === filter.key && adding.isNot === isNot;
        return isAdding || valuesOf(filter.key, isNot).length > 0;
      })
      .map((isNot) => ({ filter, isNot })),
  );
  const isChosen = (key: FilterKey, isNot: boolean) => valuesOf(key, isNot).length > 0;
  const addable = filters.filter(({ key }) => !isChosen(key, false) || (isNegatable(key) && !isChosen(key, true)));
  return (
    <div className={classes['toolbar']}>
      {!state.isLive && <PeriodChip period={state.period} onChange={page.setPeriod} />}
      {chosen.map(({ filter, isNot }) => (
        <FilterChip
          key={`${filter.key} ${isNot}`}
          filter={filter}
          isNot={isNot}
          values={valuesOf(filter.key, isNot)}
          startOpen={adding?.key === filter.key && adding.isNot === isNot}
          onChange={(values) => page.setFilter(filter.key, isNot, values)}
          onNegate={(not) => {
            setAdding({ key: filter.key, isNot: not });
            if (not !== isNot) page.negate(filter.key, not);
          }}
          onClose={() => setAdding(null)}
          onRemove={() => {
            setAdding(null);
            page.setFilter(filter.key, isNot, []);
          }}
        />
      ))}
      {state.only.noSite && <NoSiteChip onRemove={() => page.setFilter('noSite', false, [])} />}
      <Menu position="bottom-start">
        <Menu.Target>
          <button type="button" className={chips['addFilter']} data-add-filter>
            <IconPlus size={14} stroke={1.6} aria-hidden />
            {t('shared.table.filter')}
          </button>
        </Menu.Target>
        <Menu.Dropdown className={classes['filterMenu'] ?? ''}>
          {addable.map(({ key }) => (
            <Menu.Item key={key} onClick={() => setAdding({ key, isNot: isChosen(key, false) })}>
              {labelOf(key)}
            </Menu.Item>
          ))}
          {/* Only operators see requests of no site. */}
          {family === 'client' && !state.only.noSite && (
            <Menu.Item onClick={() => page.setFilter('noSite', false, ['true'])}>{labelOf('noSite')}</Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <SearchField onFind={page.find} />
      <SavedSearches page={page} />
    </div>
  );
}

function NoSiteChip({ onRemove }: { onRemove: () => void }) {
  const t = useT();
  const name = labelOf('noSite');
  return (
    <span className={chips['chip']}>
      <span className={chips['chipBody']}>
        <b>{name}</b>
      </span>
      <button
        type="button"
        className={chips['chipRemove']}
        aria-label={t('shared.table.removeFilter', { name })}
        onClick={onRemove}
      >
        <IconX size={13} aria-hidden />
      </button>
    </span>
  );
}
