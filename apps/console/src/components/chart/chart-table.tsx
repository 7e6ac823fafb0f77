import type { ChartUnit } from '@edgeloom/contract/charts/charts.ts';
import { useState } from 'react';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { Time } from '../values/values.tsx';
import { figure } from './figure.ts';
import classes from './chart.module.css';

interface ChartTableProps {
  title: string;
  times: readonly string[];
  series: readonly { name: string; values: readonly (number | null)[] }[];
  unit: ChartUnit;
}

/** Longer tables would make the page slow. */
const MAX_ROWS = 1000;

/** The chart's newest values as a table. Its rows render only while it is open. */
export function ChartTable({ title, times, series, unit }: ChartTableProps) {
  const t = useT();
  const [opened, setOpened] = useState(false);
  const hidden = Math.max(0, times.length - MAX_ROWS);
  return (
    <details className={classes['twin']} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>{t('charts.table')}</summary>
      {opened && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable regions need keyboard access
        <section className={classes['rows']} aria-label={title} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t('charts.time')}</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.slice(hidden).map((at, i) => (
                <tr key={at}>
                  <td>
                    <Time at={at} />
                  </td>
                  {series.map(({ name, values }) => (
                    <td key={name}>{figure(unit, values[hidden + i])}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          {hidden > 0 && <p className={classes['cut']}>{t('charts.cut', { rows: count(MAX_ROWS) })}</p>}
        </section>
      )}
    </details>
  );
}
