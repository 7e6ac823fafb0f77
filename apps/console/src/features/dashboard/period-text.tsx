import { boundsOfFigures, periodWords } from '../statistics/period-words.ts';
import classes from './dashboard.module.css';

interface PeriodTextProps {
  /** The period of a response, and when that arrived. Empty until then. */
  figures: { from: string; to: string } | undefined;
  at: number;
}

/** The period of a dashboard's figures with its time zone. */
export const PeriodText = ({ figures, at }: PeriodTextProps) =>
  figures && <span className={classes['period']}>{periodWords(boundsOfFigures(figures, at))}</span>;
