import { time, zoneName } from '../../lib/format.ts';

/** In milliseconds. */
interface Bounds {
  from: number;
  to: number;
}

/** The period of figures that arrived at a time. A current step ends then. */
export const boundsOfFigures = (figures: { from: string; to: string }, at: number): Bounds => ({
  from: Date.parse(figures.from),
  to: Math.min(Date.parse(figures.to), at),
});

/** Start and end in minutes, with the time zone. */
export function periodWords({ from, to }: Bounds): string {
  const [start, end] = [from, to].map((at) => time(new Date(at)).slice(0, 16));
  return `${start} – ${end} ${zoneName(new Date(to))}`;
}
