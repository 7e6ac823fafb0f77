import { ActionIcon, Menu } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { pageSizes, type TableState } from './table-state.ts';
import classes from './resource-table.module.css';

export function Pager({ state, total }: { state: TableState; total: number }) {
  const t = useT();
  const { page, pageSize, setPage, setPageSize } = state;
  const pages = Math.max(1, Math.ceil(total / pageSize));
  const from = Math.min(total, (page - 1) * pageSize + 1);
  const to = Math.min(total, page * pageSize);
  // Small lists start with 10 rows.
  const sizes = pageSizes.filter((size) => size > 10 || state.list.pageSize === 10);
  return (
    <footer className={classes['pager']}>
      <span>{t('shared.table.range', { from: count(from), to: count(to), total: count(total) })}</span>
      <Menu position="top-end">
        <Menu.Target>
          <button type="button" className={classes['pageSize']}>
            {t('shared.table.perPage')} <b>{pageSize}</b>
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          {sizes.map((size) => (
            <Menu.Item key={size} onClick={() => setPageSize(size)} aria-current={size === pageSize}>
              {size}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <nav className={classes['pages']} aria-label={t('shared.table.page', { page, pages })}>
        <ActionIcon aria-label={t('shared.table.previous')} disabled={page <= 1} onClick={() => setPage(page - 1)}>
          <IconChevronLeft size={16} stroke={1.6} />
        </ActionIcon>
        <span aria-hidden>
          {page} / {pages}
        </span>
        <ActionIcon aria-label={t('shared.table.nextPage')} disabled={page >= pages} onClick={() => setPage(page + 1)}>
          <IconChevronRight size={16} stroke={1.6} />
        </ActionIcon>
      </nav>
    </footer>
  );
}
