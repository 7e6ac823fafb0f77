import { Button, Menu } from '@mantine/core';
import { IconColumns3 } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useT } from '../../lib/i18n.ts';
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
  columns: readonly { key: string; title: string; shown: boolean }[];
  onColumn: (key: string, shown: boolean) => void;
  children?: ReactNode;
}

export function Toolbar({ words, state, search, filters, columns, onColumn, children }: ToolbarProps) {
  const t = useT();
  return (
    <div className={classes['toolbar']}>
      {search !== undefined && <SearchBox words={words} state={state} />}
      {filters.length > 0 && <Filters words={words} state={state} filters={filters} />}
      <div className={classes['toolbarEnd']}>
        {children}
        {columns.length > 2 && (
          <Menu position="bottom-end">
            <Menu.Target>
              <Button
                variant="subtle"
                color="gray"
                size="xs"
                className={classes['quiet'] ?? ''}
                leftSection={<IconColumns3 size={15} stroke={1.6} />}
              >
                {t('common.table.columns')}
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {columns.slice(1).map(({ key, title, shown }) => (
                <Menu.CheckboxItem key={key} checked={shown} onChange={(on) => onColumn(key, on)}>
                  {title}
                </Menu.CheckboxItem>
              ))}
            </Menu.Dropdown>
          </Menu>
        )}
      </div>
    </div>
  );
}
