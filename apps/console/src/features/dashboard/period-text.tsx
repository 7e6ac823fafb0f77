import { time, zoneName } from '../../lib/format.ts';
import classes from './dashboard.module.css';

interface PeriodTextProps {
  /** The period of a response, and when that arrived. Empty until then. */
  figures: { from: string; to: string } | undefined;
  at: number;
}

/** The period of a dashboard's figures with its time zone. A current step ends now. */
export function PeriodText({ figures, at }: PeriodTextProps) {
  if (figures === undefined) return null;
  const to = new Date(Math.min(Date.parse(figures.to), at));
  const [start, end] = [new Date(figures.from), to].map((one) => time(one).slice(0, 16));
  return (
    <span className={classes['period']}>
      {start} – {end} {zoneName(to)}
    </span>
  );
}
