import classes from './nodes.module.css';

interface LiveLineProps {
  /** Oldest first, of each line; as many of the one as of the other. */
  lines: readonly (readonly number[])[];
  /** The top of the scale; by default the highest value. */
  most?: number;
  summary: string;
}

const WIDTH = 300;
const HEIGHT = 80;
/** Five minutes of looks two seconds apart. */
export const LOOKS = 150;

/** What is drawn anew every two seconds: an outline, and nothing that moves by itself. The newest value is at the right. */
export function LiveLine({ lines, most, summary }: LiveLineProps) {
  const top = most ?? Math.max(1, ...lines.flat());
  const placeOf = (value: number, i: number, length: number) => {
    const x = WIDTH - ((length - 1 - i) * WIDTH) / (LOOKS - 1);
    return `${x.toFixed(1)},${(HEIGHT - (Math.min(value, top) / top) * (HEIGHT - 2) - 1).toFixed(1)}`;
  };
  return (
    <svg
      className={classes['live']}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={summary}
    >
      {lines.map((values, line) => (
        // oxlint-disable-next-line react/no-array-index-key -- lines have no name of their own and keep their order
        <polyline key={line} points={values.map((value, i) => placeOf(value, i, values.length)).join(' ')} />
      ))}
    </svg>
  );
}
