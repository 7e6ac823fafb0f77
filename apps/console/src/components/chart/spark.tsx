import classes from './panel.module.css';

const WIDTH = 60;
const HEIGHT = 26;
const POINTS = 40;

/** The shape of a series. Its figures are beside it as text. */
export function Spark({ values, inText = false }: { values: readonly (number | null)[]; inText?: boolean }) {
  const points = averages(values);
  const most = Math.max(0, ...points.map((value) => value ?? 0));
  if (most === 0) return null;
  const place = (value: number, i: number) =>
    `${((i / Math.max(1, points.length - 1)) * WIDTH).toFixed(1)} ${(HEIGHT - 1 - (value / most) * (HEIGHT - 2)).toFixed(1)}`;
  // A gap begins a new line.
  const line = points
    .map((value, i) => (value === null ? '' : `${(points[i - 1] ?? null) === null ? 'M' : 'L'}${place(value, i)}`))
    .join('');
  return (
    <svg className={classes[inText ? 'inText' : 'spark']} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden>
      <path d={line} />
    </svg>
  );
}

/** At most POINTS averages of neighbours. */
function averages(values: readonly (number | null)[]): (number | null)[] {
  const size = Math.max(1, Math.ceil(values.length / POINTS));
  return Array.from({ length: Math.ceil(values.length / size) }, (_, i) => {
    const part = values.slice(i * size, (i + 1) * size).filter((value) => value !== null);
    return part.length === 0 ? null : part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}
