import { Button, Skeleton } from '@mantine/core';
import { IconFilterOff } from '@tabler/icons-react';
import { useT } from '../../lib/i18n.ts';
import { EmptyState, Late } from '../states/states.tsx';
import classes from '../states/states.module.css';

/** Names the search and filters that no row matches. */
export function NothingMatches({ filters, onClear }: { filters: readonly string[]; onClear: () => void }) {
  const t = useT();
  const named = filters.map((text) => t('common.states.quoted', { text })).join(t('common.comma'));
  return (
    <EmptyState
      icon={IconFilterOff}
      title={t('common.states.nothingMatches')}
      text={t('common.states.hiddenBy', { filters: named })}
      action={
        <Button variant="default" onClick={onClear}>
          {t('common.states.clearFilters')}
        </Button>
      }
    />
  );
}

const widths = ['72%', '86%', '64%', '78%', '90%', '58%'] as const;

export function TableSkeleton({ columns, rows = 8 }: { columns: number; rows?: number }) {
  const t = useT();
  return (
    <Late>
      <output className={classes['skeleton']} aria-label={t('common.loading')}>
        {Array.from({ length: rows }, (_, row) => (
          <div key={row} className={classes['skeletonRow']}>
            {Array.from({ length: columns }, (_, column) => (
              <Skeleton
                key={column}
                height={8}
                radius="xl"
                animate={false}
                width={widths[(row + column * 2) % widths.length] ?? '70%'}
              />
            ))}
          </div>
        ))}
      </output>
    </Late>
  );
}
