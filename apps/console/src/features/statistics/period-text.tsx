import { useT } from '../../lib/i18n.ts';
import type { Result } from '../../lib/use-endpoint.ts';
import { boundsOf } from './period.ts';
import { boundsOfFigures, periodWords } from './period-words.ts';
import type { Statistics } from './use-statistics.ts';
import classes from './statistics.module.css';

interface PeriodTextProps {
  state: Statistics;
  /** The shown figures. The API widens older periods to the sums that are kept. */
  result: Result<{ from: string; to: string }>;
}

/** The period of the figures with its time zone, and how to zoom. Until they arrive, the chosen period. */
export function PeriodText({ state: { period, now }, result }: PeriodTextProps) {
  const t = useT();
  const figures = result.refreshing ? undefined : result.data;
  const bounds = figures ? boundsOfFigures(figures, result.at) : boundsOf(period, now);
  return (
    <p className={classes['periodText']}>
      <span>{periodWords(bounds)}</span>
      <span className={classes['hint']}>{t('statistics.zoomHint')}</span>
    </p>
  );
}
