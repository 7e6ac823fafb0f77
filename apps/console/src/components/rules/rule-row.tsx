import { ActionIcon, Menu, Switch, UnstyledButton } from '@mantine/core';
import {
  IconArrowDown,
  IconArrowUp,
  IconChevronUp,
  IconCopyPlus,
  IconDots,
  IconGripVertical,
  IconPencil,
  IconTrash,
} from '@tabler/icons-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useT } from '../../lib/i18n.ts';
import { Pill } from '../status/status.tsx';
import type { AnyDraft } from './drafts.ts';
import { RuleMatchCount, type RuleMatches } from './rule-matches.tsx';
import classes from './rules.module.css';

interface RuleRowProps {
  rule: AnyDraft;
  n: number;
  count: number;
  open: boolean;
  draft: boolean;
  locked: boolean;
  matches: RuleMatches;
  sentence: ReactNode;
  editor: ReactNode;
  onOpen: (open: boolean) => void;
  onSwitch: (enabled: boolean) => void;
  onMove: (to: number) => void;
  onDuplicate: () => void;
  onRemove: () => void;
  /** The dragged rule was dropped above this one. */
  onDrop: (key: string) => void;
}

export function RuleRow(props: RuleRowProps) {
  const { rule, n, open, draft, locked, matches, sentence, editor, onOpen, onSwitch, onMove, onDrop } = props;
  const t = useT();
  const [over, setOver] = useState(false);
  const place = n - 1;
  const row = useRef<HTMLLIElement>(null);
  // A new rule may be far below the button that adds rules.
  useEffect(() => {
    if (open) row.current?.scrollIntoView({ block: 'nearest' });
  }, [open]);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- drop target; its buttons take keys
    <li
      ref={row}
      className={classes['rule']}
      data-rule={rule.key}
      data-open={open || undefined}
      data-off={!rule.enabled || undefined}
      data-over={over || undefined}
      onKeyDown={(event) => {
        if (locked || !event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
        event.preventDefault();
        onMove(event.key === 'ArrowUp' ? place - 1 : place + 1);
      }}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('text/rule')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onDrop(event.dataTransfer.getData('text/rule'));
      }}
    >
      <div className={classes['line']}>
        {!locked && (
          <UnstyledButton
            className={classes['grip'] ?? ''}
            aria-label={t('shared.rules.handle', { n })}
            draggable
            onDragStart={(event) => {
              event.dataTransfer.setData('text/rule', rule.key);
              event.dataTransfer.effectAllowed = 'move';
            }}
          >
            <IconGripVertical size={16} stroke={1.6} />
          </UnstyledButton>
        )}
        <Switch
          size="xs"
          className={classes['switch'] ?? ''}
          aria-label={t('shared.rules.on', { n })}
          checked={rule.enabled}
          disabled={locked}
          onChange={(event) => onSwitch(event.currentTarget.checked)}
        />
        <div className={classes['sentence']} onDoubleClick={() => !locked && onOpen(true)}>
          {sentence}
        </div>
        <RuleMatchCount matches={matches} id={rule.id} />
        {draft && <Pill tone="warn">{t('shared.rules.draft')}</Pill>}
        {!locked && open && (
          <ActionIcon aria-label={t('shared.rules.close', { n })} aria-expanded onClick={() => onOpen(false)}>
            <IconChevronUp size={16} stroke={1.6} />
          </ActionIcon>
        )}
        {!locked && !open && <RuleActions {...props} />}
      </div>
      {editor}
    </li>
  );
}

/** The edit button and the menu of a closed rule. */
function RuleActions({ n, count, onOpen, onMove, onDuplicate, onRemove }: RuleRowProps) {
  const t = useT();
  const place = n - 1;
  return (
    <>
      <ActionIcon
        className={classes['pencil'] ?? ''}
        aria-label={t('shared.rules.open', { n })}
        aria-expanded={false}
        onClick={() => onOpen(true)}
      >
        <IconPencil size={15} stroke={1.6} />
      </ActionIcon>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon aria-label={t('shared.table.rowActions', { name: t('shared.rules.rule', { n }) })}>
            <IconDots size={16} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={15} stroke={1.6} />} onClick={() => onOpen(true)}>
            {t('common.edit')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconArrowUp size={15} stroke={1.6} />}
            disabled={n === 1}
            onClick={() => onMove(place - 1)}
          >
            {t('shared.rules.up')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconArrowDown size={15} stroke={1.6} />}
            disabled={n === count}
            onClick={() => onMove(place + 1)}
          >
            {t('shared.rules.down')}
          </Menu.Item>
          <Menu.Item leftSection={<IconCopyPlus size={15} stroke={1.6} />} onClick={onDuplicate}>
            {t('shared.rules.duplicate')}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item color="var(--el-bad-text)" leftSection={<IconTrash size={15} stroke={1.6} />} onClick={onRemove}>
            {t('common.remove')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
