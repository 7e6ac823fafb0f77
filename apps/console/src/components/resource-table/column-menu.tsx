import { ActionIcon, Button, Checkbox, Popover } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconColumns3 } from '@tabler/icons-react';
import { useT } from '../../lib/i18n.ts';
import { titleOf, type Column } from './columns.tsx';
import type { ColumnChoice } from './use-column-choice.ts';
import classes from './resource-table.module.css';

interface ColumnMenuProps<Row> {
  words: string;
  choice: ColumnChoice<Column<Row>>;
}

/** Selects and orders columns. The first column is fixed. */
export function ColumnMenu<Row>({ words, choice: { all, isShown, choose } }: ColumnMenuProps<Row>) {
  const t = useT();
  const [, ...others] = all;
  const keys = others.map(({ key }) => key);
  const on = keys.filter(isShown);
  const move = (key: string, by: number) => {
    const at = on.indexOf(key);
    choose(on.toSpliced(at, 1).toSpliced(at + by, 0, key));
  };
  return (
    <Popover position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="subtle"
          color="gray"
          size="xs"
          className={classes['quiet'] ?? ''}
          leftSection={<IconColumns3 size={15} stroke={1.6} />}
        >
          {t('shared.table.columns')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={6} aria-label={t('shared.table.columns')}>
        <ul className={classes['columnList']}>
          {others.map((column) => {
            const { key } = column;
            const title = titleOf(column, words);
            const at = on.indexOf(key);
            return (
              <li key={key} className={classes['columnItem']}>
                <Checkbox
                  label={title}
                  checked={at >= 0}
                  onChange={(event) =>
                    choose(event.currentTarget.checked ? [...on, key] : on.filter((kept) => kept !== key))
                  }
                />
                <ActionIcon
                  size={22}
                  aria-label={t('shared.table.columnUp', { name: title })}
                  disabled={at <= 0}
                  onClick={() => move(key, -1)}
                >
                  <IconArrowUp size={14} stroke={1.6} />
                </ActionIcon>
                <ActionIcon
                  size={22}
                  aria-label={t('shared.table.columnDown', { name: title })}
                  disabled={at < 0 || at === on.length - 1}
                  onClick={() => move(key, 1)}
                >
                  <IconArrowDown size={14} stroke={1.6} />
                </ActionIcon>
              </li>
            );
          })}
        </ul>
        <Button variant="subtle" size="xs" fullWidth onClick={() => choose(null)}>
          {t('shared.table.ownColumns')}
        </Button>
      </Popover.Dropdown>
    </Popover>
  );
}
