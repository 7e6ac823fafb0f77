import { useId } from 'react';
import classes from './auth.module.css';

/** Size of a thread crossing in px. */
const cell = 14.5;

interface Thread {
  /** Row from the top, and column of the strongest highlight. */
  row: number;
  from: number;
  floats: number;
  dye: 'woad' | 'ochre' | 'plum';
}
// Coloured weft threads, like requests that pass through.
const threads: readonly Thread[] = [
  { row: 9, from: 0, floats: 8, dye: 'woad' },
  { row: 10, from: 1, floats: 6, dye: 'woad' },
  { row: 21, from: 4, floats: 7, dye: 'ochre' },
  { row: 22, from: 0, floats: 13, dye: 'woad' },
  { row: 23, from: 6, floats: 7, dye: 'woad' },
  { row: 37, from: 9, floats: 5, dye: 'plum' },
  { row: 38, from: 0, floats: 10, dye: 'woad' },
  { row: 50, from: 2, floats: 14, dye: 'woad' },
  { row: 51, from: 1, floats: 5, dye: 'ochre' },
  { row: 58, from: 9, floats: 8, dye: 'woad' },
  { row: 70, from: 3, floats: 9, dye: 'woad' },
  { row: 71, from: 8, floats: 5, dye: 'plum' },
];

/** A 2/2 twill: each weft passes over two warps, and each row is shifted by one. */
const floatAt = (row: number, index: number) => (index * 4 - (row % 4)) * cell;

/** The woven background: a pattern of four by four threads with coloured highlights. */
export function LoginBackground() {
  const id = useId();
  return (
    <svg className={classes['woven']} aria-hidden focusable="false">
      <defs>
        <pattern id={id} width={cell * 4} height={cell * 4} patternUnits="userSpaceOnUse">
          <rect width={cell * 4} height={cell * 4} className={classes['gap']} />
          {[0, 1, 2, 3].map((warp) => (
            <rect key={warp} x={warp * cell + 1.2} width={cell - 2.4} height={cell * 4} className={classes['warp']} />
          ))}
          {[0, 1, 2, 3].flatMap((row) =>
            [0, 1].map((index) => (
              <rect
                key={`${row} ${index}`}
                x={floatAt(row, index)}
                y={row * cell + 1.6}
                width={cell * 2}
                height={cell - 3.2}
                rx="1.2"
                className={classes['weft']}
              />
            )),
          )}
        </pattern>
      </defs>
      <rect width="100%" height="100%" fill={`url(#${id})`} />
      {threads.flatMap(({ row, from, floats, dye }) =>
        Array.from({ length: floats }, (_, i) => (
          <rect
            key={`${row} ${i}`}
            x={floatAt(row, from + i)}
            y={row * cell + 1.6}
            width={cell * 2}
            height={cell - 3.2}
            rx="1.2"
            className={classes['dyed']}
            data-dye={dye}
            opacity={Math.max(0.08, Math.sin(((i + 0.8) / (floats + 0.6)) * Math.PI)).toFixed(2)}
          />
        )),
      )}
    </svg>
  );
}
