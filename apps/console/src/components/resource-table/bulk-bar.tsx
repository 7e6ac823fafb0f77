import { Menu } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { IconDots, IconListCheck, type Icon } from '@tabler/icons-react';
import { useLayoutEffect, useRef, useState } from 'react';
import { useFocusHandover } from '../../lib/use-focus-handover.ts';
import { useT } from '../../lib/i18n.ts';
import { Kbd } from '../values/values.tsx';
import type { BulkAction } from './actions.tsx';
import classes from './resource-table.module.css';

interface BulkBarProps<Row> {
  selected: number;
  /** Number of all matching rows, if they can be selected. */
  matching: number | null;
  /** Progress of the bulk action or of selecting all rows. */
  progress: { done: number; total: number } | null;
  actions: readonly BulkAction<Row>[];
  onRun: (action: BulkAction<Row>) => void;
  onAll: () => void;
  onClear: () => void;
  /** Called when the bar is removed while it has focus. */
  onFocusLost: () => void;
}
interface Entry {
  key: string;
  text: string;
  icon: Icon;
  danger: boolean;
  /** Always behind "More". */
  isBehind: boolean;
  run: () => void;
}

/** Toolbar above the pager while rows are selected: safe actions, dangerous actions, Esc. */
export function BulkBar<Row>(props: BulkBarProps<Row>) {
  const { selected, matching, progress, actions, onRun, onAll, onClear, onFocusLost } = props;
  const t = useT();
  const entries = actions.map((action): Entry => ({
    key: action.label,
    text: t(action.label),
    icon: action.icon,
    danger: action.danger ?? false,
    isBehind: action.more ?? false,
    run: () => onRun(action),
  }));
  const everything: Entry[] =
    matching === null
      ? []
      : [
          {
            key: 'all',
            text: t('shared.table.selectAll', { count: matching }),
            icon: IconListCheck,
            danger: false,
            isBehind: false,
            run: onAll,
          },
        ];
  const counted = progress ? `${progress.done} / ${progress.total}` : t('shared.table.selected', { count: selected });
  const direct = entries.filter(({ isBehind }) => !isBehind);
  // Order in which entries are hidden when there is no room: safe actions from the end, dangerous ones, "Select all".
  const leaving = [
    ...direct.filter(({ danger }) => !danger).toReversed(),
    ...direct.filter(({ danger }) => danger).toReversed(),
    ...everything,
  ];
  const { place, bar, left } = useFitting([counted, ...leaving.map(({ text }) => text)].join('\n'), leaving.length);
  useFocusHandover(bar, onFocusLost);
  const moved = new Set(leaving.slice(0, left).map(({ key }) => key));
  const isShown = ({ key, isBehind }: Entry) => !isBehind && !moved.has(key);
  const behind = [...everything, ...entries].filter((entry) => !isShown(entry));
  // Disabled buttons would lose focus.
  const busy = progress !== null;

  const button = ({ key, text, icon: Icon, danger, run }: Entry) => (
    <button
      key={key}
      type="button"
      className={classes['bulkAction']}
      data-danger={danger || undefined}
      aria-disabled={busy || undefined}
      onClick={busy ? undefined : run}
    >
      {key !== 'all' && <Icon size={16} stroke={1.6} aria-hidden />}
      {text}
    </button>
  );
  const item = ({ key, text, icon: Icon, danger, run }: Entry) => (
    <Menu.Item
      key={key}
      leftSection={<Icon size={16} stroke={1.6} />}
      {...(danger && { color: 'var(--el-bad-text)' })}
      onClick={run}
    >
      {text}
    </Menu.Item>
  );
  return (
    <div className={classes['bulkPlace']} ref={place}>
      <div className={classes['bulk']} ref={bar} role="toolbar" aria-label={t('shared.table.bulk')}>
        <output className={classes['bulkCount']}>{counted}</output>
        {everything.filter(isShown).map(button)}
        {entries.filter((entry) => isShown(entry) && !entry.danger).map(button)}
        {behind.length > 0 && (
          <Menu position="top-end" returnFocus disabled={busy}>
            <Menu.Target>
              <button type="button" className={classes['bulkAction']} aria-disabled={busy || undefined}>
                <IconDots size={16} stroke={1.6} aria-hidden />
                {t('common.more')}
              </button>
            </Menu.Target>
            <Menu.Dropdown>
              {behind.filter(({ danger }) => !danger).map(item)}
              {behind.some(({ danger }) => danger) && behind.some(({ danger }) => !danger) && <Menu.Divider />}
              {behind.filter(({ danger }) => danger).map(item)}
            </Menu.Dropdown>
          </Menu>
        )}
        {entries.filter((entry) => isShown(entry) && entry.danger).map(button)}
        <button type="button" className={classes['bulkAction']} onClick={onClear}>
          <Kbd>Esc</Kbd>
          <span className="hidden-text">{t('shared.table.clearSelection')}</span>
        </button>
      </div>
    </div>
  );
}

/** How many entries do not fit. Measured for each width and text. */
function useFitting(words: string, most: number) {
  const { ref: place, width } = useElementSize();
  const bar = useRef<HTMLDivElement>(null);
  const asked = `${width} ${words}`;
  const [fit, setFit] = useState({ asked, left: 0 });
  const left = fit.asked === asked ? fit.left : 0;
  useLayoutEffect(() => {
    const element = bar.current;
    if (element && element.scrollWidth > element.clientWidth && left < most) setFit({ asked, left: left + 1 });
  }, [asked, left, most]);
  return { place, bar, left };
}
