import { ActionIcon } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { useT } from '../../lib/i18n.ts';
import classes from './pages.module.css';

interface PagesProps {
  page: number;
  pageSize: number;
  total: number;
  onChange: (page: number) => void;
}

/** Page links of a list that is not a table. A single page has none. */
export function Pages({ page, pageSize, total, onChange }: PagesProps) {
  const t = useT();
  const pages = Math.ceil(total / pageSize);
  if (pages <= 1) return null;
  return (
    <nav className={classes['pages']} aria-label={t('shared.table.page', { page, pages })}>
      <ActionIcon aria-label={t('shared.table.previous')} disabled={page <= 1} onClick={() => onChange(page - 1)}>
        <IconChevronLeft size={16} stroke={1.6} />
      </ActionIcon>
      <span aria-hidden>
        {page} / {pages}
      </span>
      <ActionIcon aria-label={t('shared.table.nextPage')} disabled={page >= pages} onClick={() => onChange(page + 1)}>
        <IconChevronRight size={16} stroke={1.6} />
      </ActionIcon>
    </nav>
  );
}
