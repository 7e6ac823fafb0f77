import { ActionIcon, Button } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useNavigate } from 'react-router-dom';
import { useT } from '../../lib/i18n.ts';
import { filterKinds, type FilterKind } from './filters.ts';
import type { Statistics } from './use-statistics.ts';
import { useValueName } from './use-value-name.ts';
import classes from './statistics.module.css';

/** The filters of the whole page. Absent without filters. */
export function FilterChips({ state }: { state: Statistics }) {
  const t = useT();
  const valueName = useValueName((state.filters.wafRule ?? state.filters.wafMonitored) !== undefined);
  const navigate = useNavigate();
  if (!state.isFiltered) return null;
  const nameOf = (kind: FilterKind, value: string) =>
    kind === 'protocol' ? (value === 'ipv4' ? 'IPv4' : 'IPv6') : valueName(kind, value);
  return (
    <section className={classes['chips']} aria-label={t('statistics.filters')}>
      {filterKinds.map((kind) => {
        const values = state.filters[kind];
        if (values === undefined) return null;
        const title = t(kind === 'protocol' ? 'statistics.series.protocol' : `statistics.tops.${kind}`);
        const names = values.map((value) => nameOf(kind, value)).join(t('common.comma'));
        return (
          <span key={kind} className={classes['chip']}>
            <span>{title}</span>
            <b title={names}>{names}</b>
            <ActionIcon
              size="xs"
              aria-label={t('statistics.removeFilter', { name: title })}
              onClick={() => void navigate(state.withFilter(kind, null))}
            >
              <IconX size={13} stroke={1.8} />
            </ActionIcon>
          </span>
        );
      })}
      <Button variant="subtle" color="gray" size="xs" onClick={state.clearFilters}>
        {t('common.states.clearFilters')}
      </Button>
      <span className={classes['hint']}>{t('statistics.filtersWhy')}</span>
    </section>
  );
}
