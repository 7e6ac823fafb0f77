import { time, zoneName } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { boundsOf } from './period.ts';
import type { Statistics } from './use-statistics.ts';
import classes from './statistics.module.css';

/** The shown period with its time zone, and how to zoom. */
export function PeriodText({ state: { period, now } }: { state: Statistics }) {
  const t = useT();
  const { from, to } = boundsOf(period, now);
  const [start, end] = [from, to].map((at) => time(new Date(at)).slice(0, 16));
  return (
    <p className={classes['periodText']}>
      <span>
        {start} – {end} {zoneName(new Date(to))}
      </span>
      <span className={classes['hint']}>{t('statistics.zoomHint')}</span>
    </p>
  );
}
