import { Button, NumberInput, Popover } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { time } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { stateOfMember, toneOfMember, type Member } from './board.ts';
import classes from './groups.module.css';

interface NodeChipProps {
  member: Member;
  isChanged: boolean;
  isLifted: boolean;
  isLanded?: boolean;
  mayMove: boolean;
  /** Not on any line, so without weight. */
  isFree?: boolean;
  /** Null when read-only. */
  onWeight: ((weight: number) => void) | null;
  onTakeOff: (() => void) | null;
  onLift: () => void;
  /** Keys while the node is lifted: arrows, Space, Escape. */
  onKey: (event: KeyboardEvent) => void;
  onDragEnd: () => void;
}

/** A node on a line; virtual nodes are dashed. Enter opens its menu, Space lifts it. */
export function NodeChip(props: NodeChipProps) {
  const { member, isChanged, isLifted, isLanded = false, mayMove, isFree = false } = props;
  const { onWeight, onTakeOff, onLift, onKey, onDragEnd } = props;
  const t = useT();
  const [opened, setOpened] = useState(false);
  const chip = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isLanded) chip.current?.focus();
  }, [isLanded]);
  const [state, tone] = [stateOfMember(member, t), toneOfMember(member)];
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="bottom-start"
      width={260}
      trapFocus
      returnFocus
      withinPortal
    >
      <Popover.Target>
        <button
          ref={chip}
          type="button"
          className={classes['chip']}
          data-virtual={member.nodeUID.startsWith('v-') || undefined}
          data-changed={isChanged || undefined}
          data-lifted={isLifted || undefined}
          draggable={mayMove}
          aria-haspopup="dialog"
          aria-expanded={opened}
          title={[member.name, state].filter(Boolean).join(' · ')}
          onClick={() => setOpened(!opened)}
          onDragStart={(event) => {
            event.dataTransfer.setData('text/plain', member.name);
            event.dataTransfer.effectAllowed = 'move';
            onLift();
          }}
          onDragEnd={onDragEnd}
          // Losing focus drops the node.
          onBlur={() => isLifted && onDragEnd()}
          onKeyDown={(event) => {
            if (isLifted) return onKey(event);
            if (event.key !== ' ' || !mayMove) return;
            event.preventDefault();
            onLift();
          }}
          // Otherwise releasing Space would press the button.
          onKeyUp={(event) => event.key === ' ' && mayMove && event.preventDefault()}
        >
          <StatusMark tone={tone} label={state} />
          <span className={classes['chipName']}>{member.name}</span>
          {!isFree && <span className={classes['weight']}>{member.weight}</span>}
        </button>
      </Popover.Target>
      <Popover.Dropdown aria-label={member.name}>
        <div className={classes['pop']}>
          <b>{member.name}</b>
          {member.addresses.length > 0 && <span className={classes['addresses']}>{member.addresses.join(' · ')}</span>}
          {tone !== 'ok' && state !== '' && (
            <span className={classes['state']} data-tone={tone}>
              {state}
              {member.since !== null && ` · ${t('groups.since', { time: time(member.since) })}`}
            </span>
          )}
          {onWeight && (
            <NumberInput
              label={t('groups.fields.weight')}
              description={t('groups.hints.weight')}
              min={0}
              max={100}
              allowDecimal={false}
              value={member.weight}
              onChange={(next) => typeof next === 'number' && next >= 0 && next <= 100 && onWeight(next)}
            />
          )}
          {mayMove && <span className={classes['hint']}>{t('groups.moveHint')}</span>}
          {onTakeOff && (
            <Button
              variant="default"
              leftSection={<IconTrash size={15} stroke={1.6} />}
              onClick={() => {
                // The chip is removed; keep the keyboard focus in its cell.
                const cell = chip.current?.closest('td');
                setOpened(false);
                onTakeOff();
                requestAnimationFrame(() => cell?.querySelector('button')?.focus());
              }}
            >
              {t('groups.takeOff')}
            </Button>
          )}
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
