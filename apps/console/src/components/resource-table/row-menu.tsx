import { ActionIcon, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
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
  if (actions.length === 0) return null;
  const safe = actions.filter(({ danger }) => !danger);
  const dangerous = actions.filter(({ danger }) => danger);
  const item = (action: RowAction<Row>) => {
    const { label, icon: Icon, danger } = action;
    return (
      <Menu.Item
        key={label}
        data-action={label}
        leftSection={<Icon size={15} stroke={1.6} />}
        {...(danger && { color: 'var(--el-bad-text)' })}
        onClick={() => onRun(action)}
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
