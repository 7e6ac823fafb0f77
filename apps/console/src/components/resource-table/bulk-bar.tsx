import { Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useT } from '../../lib/i18n.ts';
import { Kbd } from '../values/values.tsx';
import type { BulkAction } from './actions.tsx';
import classes from './resource-table.module.css';

interface BulkBarProps<Row> {
  selected: number;
  /** How many match in all, where they can all be selected. */
  matching: number | null;
  /** A batch, or the selection of all, under way. */
  progress: { done: number; total: number } | null;
  actions: readonly BulkAction<Row>[];
  onRun: (action: BulkAction<Row>) => void;
  onAll: () => void;
  onClear: () => void;
}

/** Floats above the pager while rows are selected: safe actions, then dangerous ones, then Esc. */
export function BulkBar<Row>({ selected, matching, progress, actions, onRun, onAll, onClear }: BulkBarProps<Row>) {
  const t = useT();
  const shown = actions.filter(({ more }) => !more);
  const behind = actions.filter(({ more }) => more);
  const button = (action: BulkAction<Row>) => {
    const { label, icon: Icon, danger } = action;
    return (
      <button
        key={label}
        type="button"
        className={classes['bulkAction']}
        data-danger={danger || undefined}
        disabled={progress !== null}
        onClick={() => onRun(action)}
      >
        <Icon size={16} stroke={1.6} aria-hidden />
        {t(label)}
      </button>
    );
  };
  return (
    <div className={classes['bulkPlace']}>
      <div className={classes['bulk']} role="toolbar" aria-label={t('common.table.bulk')}>
        <output className={classes['bulkCount']}>
          {progress ? `${progress.done} / ${progress.total}` : t('common.table.selected', { count: selected })}
        </output>
        {matching !== null && (
          <button type="button" className={classes['bulkAction']} disabled={progress !== null} onClick={onAll}>
            {t('common.table.selectAll', { count: matching })}
          </button>
        )}
        {shown.filter(({ danger }) => !danger).map(button)}
        {behind.length > 0 && (
          <Menu position="top-end">
            <Menu.Target>
              <button type="button" className={classes['bulkAction']} disabled={progress !== null}>
                <IconDots size={16} stroke={1.6} aria-hidden />
                {t('common.more')}
              </button>
            </Menu.Target>
            <Menu.Dropdown>
              {behind.map((action) => (
                <Menu.Item
                  key={action.label}
                  leftSection={<action.icon size={16} stroke={1.6} />}
                  onClick={() => onRun(action)}
                >
                  {t(action.label)}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        )}
        {shown.filter(({ danger }) => danger).map(button)}
        <button type="button" className={classes['bulkAction']} onClick={onClear}>
          <Kbd>Esc</Kbd>
          <span className="hidden-text">{t('common.table.clearSelection')}</span>
        </button>
      </div>
    </div>
  );
}
