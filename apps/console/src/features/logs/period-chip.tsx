import { Button, Popover, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { time } from '../../lib/format.ts';
import { t as say, useT } from '../../lib/i18n.ts';
import { useLetterKeys } from '../../lib/use-letter-keys.ts';
import { fromWall, toWall } from '../../lib/wall-time.ts';
import { faultOfPeriod, lastPeriods, currentWindow, type Period } from './log-state.ts';
import chips from '../../components/resource-table/resource-table.module.css';
import classes from './logs.module.css';

/** `Last hour`, `11/20 13:30 – 14:30`. */
export function periodInWords(period: Period): string {
  if ('last' in period) return say(`logs.last.${period.last}`);
  const [from, to] = [time(period.from).slice(5, 16), time(period.to).slice(5, 16)];
  return from.slice(0, 5) === to.slice(0, 5) ? `${from} – ${to.slice(6)}` : `${from} – ${to}`;
}

interface PeriodChipProps {
  period: Period;
  onChange: (period: Period) => void;
}

/** The time of the rows: until now, or two times at most one day apart. */
export function PeriodChip({ period, onChange }: PeriodChipProps) {
  const t = useT();
  const [opened, setOpened] = useState(false);
  const isWrong = faultOfPeriod(period) !== null;
  useLetterKeys({ t: () => setOpened(true) });
  const choose = (next: Period) => {
    onChange(next);
    setOpened(false);
  };
  return (
    <span className={chips['chip']} data-wrong={isWrong || undefined}>
      <Popover opened={opened} onChange={setOpened} position="bottom-start" trapFocus returnFocus>
        <Popover.Target>
          <button
            type="button"
            className={chips['chipBody']}
            aria-haspopup="dialog"
            aria-expanded={opened}
            onClick={() => setOpened(!opened)}
          >
            <span>{t('logs.fields.time')}</span>
            <b className={classes['period']}>{periodInWords(period)}</b>
          </button>
        </Popover.Target>
        <Popover.Dropdown p={4} aria-label={t('logs.fields.time')}>
          <fieldset className={chips['choices']} aria-label={t('logs.untilNow')}>
            {lastPeriods.map((last) => (
              <button
                key={last}
                type="button"
                className={chips['choice']}
                aria-pressed={'last' in period && period.last === last}
                onClick={() => choose({ last })}
              >
                {t(`logs.last.${last}`)}
              </button>
            ))}
          </fieldset>
          <CustomPeriod period={period} onDone={choose} />
        </Popover.Dropdown>
      </Popover>
    </span>
  );
}

function CustomPeriod({ period, onDone }: { period: Period; onDone: (period: Period) => void }) {
  const t = useT();
  const [times, setTimes] = useState(() => {
    const { startTime, endTime } = currentWindow(period);
    return { from: toWall(startTime), to: toWall(endTime) };
  });
  const [checked, setChecked] = useState(() => faultOfPeriod(period) !== null);
  const [from, to] = [fromWall(times.from), fromWall(times.to)];
  const fault = from !== null && to !== null ? faultOfPeriod({ from, to }) : null;
  const required = checked ? t('logs.faults.required') : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (from !== null && to !== null && fault === null) onDone({ from, to });
  };
  return (
    <form className={classes['custom']} onSubmit={submit} noValidate>
      <TextInput
        type="datetime-local"
        label={t('logs.from')}
        value={times.from}
        error={from === null && required}
        onChange={({ currentTarget: { value } }) => setTimes((now) => ({ ...now, from: value }))}
      />
      <TextInput
        type="datetime-local"
        label={t('logs.until')}
        value={times.to}
        error={to === null ? required : checked && fault && t(`logs.faults.${fault}`)}
        onChange={({ currentTarget: { value } }) => setTimes((now) => ({ ...now, to: value }))}
      />
      <Button type="submit" size="sm">
        {t('common.apply')}
      </Button>
    </form>
  );
}
