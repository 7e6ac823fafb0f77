import { ActionIcon, Switch, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconChevronUp, IconGripVertical, IconPencil, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { useT } from '../../lib/i18n.ts';
import classes from './acl.module.css';
import type { Rule } from './acl-draft.ts';
import { AclRuleFields } from './acl-rule-fields.tsx';
import { AclSentence } from './acl-sentence.tsx';

const DRAGGED = 'text/acl-rule';

interface AclRuleItemProps {
  n: number;
  count: number;
  rule: Rule;
  open: boolean;
  faults: ReadonlyMap<string, string>;
  onOpen: (open: boolean) => void;
  onChange: (rule: Rule) => void;
  onMove: (to: number) => void;
  onDrop: (from: number) => void;
  onRemove: () => void;
}

/** A rule as a sentence, moved by its handle, by Alt and arrows, or by its buttons. */
export function AclRuleItem(props: AclRuleItemProps) {
  const { n, count, rule, open, faults, onOpen, onChange, onMove, onDrop, onRemove } = props;
  const t = useT();
  const [over, setOver] = useState(false);
  const at = n - 1;
  // An enabled rule that is stored must be turned off and saved before.
  const isStuck = rule.enabled && rule.id !== undefined;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- drop target; its buttons take keys
    <li
      className={classes['rule']}
      data-n={n}
      data-over={over || undefined}
      data-fault={faults.size > 0 || undefined}
      onKeyDown={(event) => {
        if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
        event.preventDefault();
        onMove(event.key === 'ArrowUp' ? at - 1 : at + 1);
      }}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes(DRAGGED)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onDrop(Number(event.dataTransfer.getData(DRAGGED)));
      }}
    >
      <div className={classes['line']}>
        <UnstyledButton
          className={classes['grip'] ?? ''}
          aria-label={t('shared.rules.handle', { n })}
          draggable
          onDragStart={(event) => {
            event.dataTransfer.setData(DRAGGED, String(at));
            event.dataTransfer.effectAllowed = 'move';
          }}
        >
          <IconGripVertical size={16} stroke={1.6} />
        </UnstyledButton>
        <Switch
          size="xs"
          aria-label={t('shared.rules.on', { n })}
          checked={rule.enabled}
          onChange={({ currentTarget }) => onChange({ ...rule, enabled: currentTarget.checked })}
        />
        <div className={classes['sentence']}>
          <strong className={classes['name']}>{rule.name}</strong> <AclSentence rule={rule} />
        </div>
        <span className={classes['buttons']}>
          <ActionIcon aria-label={t('acls.nth.up', { n })} disabled={n === 1} onClick={() => onMove(at - 1)}>
            <IconArrowUp size={15} stroke={1.6} />
          </ActionIcon>
          <ActionIcon aria-label={t('acls.nth.down', { n })} disabled={n === count} onClick={() => onMove(at + 1)}>
            <IconArrowDown size={15} stroke={1.6} />
          </ActionIcon>
          <ActionIcon
            aria-label={t(open ? 'shared.rules.close' : 'shared.rules.open', { n })}
            aria-expanded={open}
            onClick={() => onOpen(!open)}
          >
            {open ? <IconChevronUp size={15} stroke={1.6} /> : <IconPencil size={15} stroke={1.6} />}
          </ActionIcon>
          <ActionIcon
            aria-label={t('acls.nth.remove', { n })}
            title={isStuck ? t('acls.turnOffFirst') : undefined}
            disabled={isStuck}
            onClick={onRemove}
          >
            <IconX size={15} stroke={1.6} />
          </ActionIcon>
        </span>
      </div>
      {(open || faults.size > 0) && <AclRuleFields n={n} rule={rule} faults={faults} onChange={onChange} />}
    </li>
  );
}
