import { ActionIcon, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useState } from 'react';
import { useT } from '../../lib/i18n.ts';
import type { RowAction } from './actions.tsx';

interface RowMenuProps<Row> {
  name: string;
  actions: readonly RowAction<Row>[];
  onRun: (action: RowAction<Row>) => void;
  opened: boolean;
  onOpened: (opened: boolean) => void;
}

export function RowMenu<Row>({ name, actions, onRun, opened, onOpened }: RowMenuProps<Row>) {
  const t = useT();
  const shown = useActionsAtOpening(actions, opened);
  if (shown.length === 0) return null;
  const safe = shown.filter(({ danger }) => !danger);
  const dangerous = shown.filter(({ danger }) => danger);
  const item = (action: RowAction<Row>) => {
    const { label, icon: Icon, danger } = action;
    return (
      <Menu.Item
        key={label}
        data-action={label}
        leftSection={<Icon size={15} stroke={1.6} />}
        {...(danger && { color: 'var(--el-bad-text)' })}
        onClick={() => onRun(actions.find((current) => current.label === label) ?? action)}
      >
        {t(label)}
      </Menu.Item>
    );
  };
  return (
    <Menu position="bottom-end" opened={opened} onChange={onOpened}>
      <Menu.Target>
        <ActionIcon data-row-menu aria-label={t('shared.table.rowActions', { name })}>
          <IconDots size={16} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {safe.map(item)}
        {safe.length > 0 && dangerous.length > 0 && <Menu.Divider />}
        {dangerous.map(item)}
      </Menu.Dropdown>
    </Menu>
  );
}

/**
 * The actions of an open menu stay as they were when it opened, also when the row changes. Otherwise a click on "Turn
 * off" could hit "Turn on". An action that no longer applies says so.
 */
function useActionsAtOpening<Row>(actions: readonly RowAction<Row>[], opened: boolean) {
  const [held, setHeld] = useState<readonly RowAction<Row>[] | null>(null);
  if (opened && held === null) setHeld(actions);
  if (!opened && held !== null) setHeld(null);
  return held ?? actions;
}
