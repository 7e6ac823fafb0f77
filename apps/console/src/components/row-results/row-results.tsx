import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useT } from '../../lib/i18n.ts';
import { Pill } from '../status/status.tsx';
import { StatusMark } from '../status/status-mark.tsx';
import classes from './row-results.module.css';

export interface RowResult {
  name: string;
  outcome: 'done' | 'waiting' | 'failed' | 'skipped';
  /** Cause of a failure, or reason of a skip. */
  text?: ReactNode;
  /** A link or button to resolve the failure, or the duration. */
  end?: ReactNode;
}

const outcomes = [
  ['done', 'ok', 'shared.rows.done'],
  ['waiting', 'unknown', 'shared.rows.waiting'],
  ['failed', 'bad', 'shared.rows.failed'],
  ['skipped', 'off', 'shared.rows.skipped'],
] as const;
const tones = { done: 'ok', waiting: 'unknown', failed: 'bad', skipped: 'off' } as const;

/** Results of a bulk action per row. */
export function RowResults({
  title,
  rows,
  onRetry,
  retrying = false,
}: {
  title: string;
  rows: readonly RowResult[];
  onRetry?: () => void;
  retrying?: boolean;
}) {
  const t = useT();
  const tally = (outcome: RowResult['outcome']) => rows.filter((row) => row.outcome === outcome).length;
  return (
    <section className={classes['card']} aria-label={title}>
      <header className={classes['head']}>
        <b className={classes['title']}>{title}</b>
        {outcomes.map(
          ([outcome, tone, word]) =>
            tally(outcome) > 0 && (
              <Pill key={outcome} tone={tone}>
                {t(word, { count: tally(outcome) })}
              </Pill>
            ),
        )}
        {onRetry && tally('failed') > 0 && (
          <Button size="xs" variant="default" className={classes['retry'] ?? ''} loading={retrying} onClick={onRetry}>
            {t('shared.rows.retry', { count: tally('failed') })}
          </Button>
        )}
      </header>
      <ul className={classes['rows']}>
        {rows.map((row) => (
          <li key={row.name} className={classes['row']}>
            <StatusMark tone={tones[row.outcome]} label={t(`status.tone.${tones[row.outcome]}`)} />
            <span className={classes['name']}>{row.name}</span>
            <span className={classes['text']}>{row.text}</span>
            <span className={classes['end']}>{row.end}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
