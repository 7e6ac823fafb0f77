import { Button, NativeSelect, SegmentedControl, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { useT } from '../../lib/i18n.ts';
import { usePhone } from '../../lib/use-phone.ts';
import { fromWall, toWall } from '../../lib/wall-time.ts';
import { instant } from './instant.ts';
import { boundsOf, customFault } from './period.ts';
import type { Statistics } from './use-statistics.ts';
import classes from './statistics.module.css';

/** The period, with its two times when they are custom. */
export function RangeControl({ state }: { state: Statistics }) {
  const t = useT();
  const phone = usePhone();
  const { period, now, offered, setPeriod } = state;
  const choose = (value: string) => {
    const interval = offered.find((name) => name === value);
    if (interval === undefined) return;
    if (interval !== 'custom') return setPeriod({ interval });
    // Starts with the times of the current period.
    const { from, to } = boundsOf(period, now);
    setPeriod({ interval, startTime: instant(from), endTime: instant(to) });
  };
  const data = offered.map((value) => ({ value, label: t(`statistics.ranges.${value}`) }));
  return (
    <>
      {phone ? (
        <NativeSelect
          aria-label={t('charts.range')}
          data={data}
          value={period.interval}
          onChange={(event) => choose(event.currentTarget.value)}
        />
      ) : (
        <SegmentedControl aria-label={t('charts.range')} data={data} value={period.interval} onChange={choose} />
      )}
      {period.startTime !== undefined && period.endTime !== undefined && (
        <CustomTimes
          key={`${period.startTime} ${period.endTime}`}
          from={period.startTime}
          to={period.endTime}
          onDone={(startTime, endTime) => setPeriod({ interval: 'custom', startTime, endTime })}
        />
      )}
    </>
  );
}

interface CustomTimesProps {
  from: string;
  to: string;
  onDone: (from: string, to: string) => void;
}

function CustomTimes({ from, to, onDone }: CustomTimesProps) {
  const t = useT();
  const [start, setStart] = useState(() => toWall(from));
  const [end, setEnd] = useState(() => toWall(to));
  const [startTime, endTime] = [fromWall(start), fromWall(end)];
  const fault = customFault(startTime, endTime);
  const isChanged = start !== toWall(from) || end !== toWall(to);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (fault === null && startTime !== null && endTime !== null) onDone(startTime, endTime);
  };
  return (
    <form className={classes['custom']} onSubmit={submit}>
      <TextInput
        type="datetime-local"
        aria-label={t('statistics.from')}
        value={start}
        max="9999-12-31T23:59"
        onChange={(event) => setStart(event.currentTarget.value)}
      />
      <span aria-hidden>–</span>
      <TextInput
        type="datetime-local"
        aria-label={t('statistics.to')}
        value={end}
        max="9999-12-31T23:59"
        error={fault === null ? null : t(`statistics.faults.${fault}`)}
        onChange={(event) => setEnd(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" disabled={!isChanged || fault !== null}>
        {t('common.apply')}
      </Button>
    </form>
  );
}

/** The report interval: only values that are valid for the period. */
export function StepControl({ state }: { state: Statistics }) {
  const t = useT();
  return (
    <NativeSelect
      aria-label={t('statistics.step')}
      title={t('statistics.step')}
      className={classes['step'] ?? ''}
      data={state.validSteps.map((step) => ({ value: String(step), label: t(`statistics.steps.${step}`) }))}
      value={String(state.reportInterval)}
      onChange={(event) => state.change({ step: event.currentTarget.value })}
    />
  );
}
