import { Button, NumberInput, Popover, UnstyledButton } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { useT } from '../../lib/i18n.ts';
import type { PortMap } from './origins-draft.ts';
import classes from './domains.module.css';

interface PortMapFieldProps {
  value: PortMap;
  locked: boolean;
  onChange: (value: PortMap) => void;
  error?: string | undefined;
}

/** Visitor port → origin port, as chips. */
export function PortMapField({ value, locked, onChange, error }: PortMapFieldProps) {
  const t = useT();
  return (
    <div className={classes['portMap']}>
      {value.map(({ from, to }) => (
        <span key={from} className={classes['chip']}>
          <b>
            {from} → {to}
          </b>
          {!locked && (
            <UnstyledButton
              className={classes['chipRemove'] ?? ''}
              aria-label={t('domains.origins.portMapChip', { from, to })}
              onClick={() => onChange(value.filter((entry) => entry.from !== from))}
            >
              <IconX size={12} stroke={2} />
            </UnstyledButton>
          )}
        </span>
      ))}
      {value.length === 0 && !error && <span className={classes['quiet']}>{t('domains.origins.portMapNone')}</span>}
      {!locked && (
        <AddPair
          taken={value.map(({ from }) => from)}
          onAdd={(pair) => onChange([...value, pair].toSorted((a, b) => a.from - b.from))}
        />
      )}
      {error && (
        <span className={classes['fault']} role="alert">
          {error}
        </span>
      )}
    </div>
  );
}

const isPort = (value: number | string): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535;

function AddPair({ taken, onAdd }: { taken: readonly number[]; onAdd: (pair: PortMap[number]) => void }) {
  const t = useT();
  const [opened, setOpened] = useState(false);
  const [from, setFrom] = useState<number | string>('');
  const [to, setTo] = useState<number | string>('');
  const twice = isPort(from) && taken.includes(from);
  const add = () => {
    if (!isPort(from) || !isPort(to) || twice) return;
    onAdd({ from, to });
    setFrom('');
    setTo('');
    setOpened(false);
  };
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" trapFocus>
      <Popover.Target>
        <UnstyledButton className={classes['add'] ?? ''} onClick={() => setOpened(!opened)}>
          <IconPlus size={13} stroke={1.8} /> {t('domains.origins.portMapAdd')}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <form
          className={classes['pair']}
          onSubmit={(event) => {
            event.preventDefault();
            add();
          }}
        >
          <NumberInput
            label={t('domains.origins.from')}
            value={from}
            onChange={setFrom}
            min={1}
            max={65_535}
            hideControls
            w={110}
            error={twice && t('domains.origins.portMapTwice')}
            data-autofocus
          />
          <NumberInput
            label={t('domains.origins.to')}
            value={to}
            onChange={setTo}
            min={1}
            max={65_535}
            hideControls
            w={110}
          />
          <Button type="submit" disabled={!isPort(from) || !isPort(to) || twice}>
            {t('common.add')}
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
