import { useState } from 'react';
import { useT } from '../../lib/i18n.ts';
import classes from './chart.module.css';

interface ValuesTableProps {
  title: string;
  heads: readonly string[];
  rows: readonly { key: string; cells: readonly string[] }[];
}

/** The values of a map as a table. Its rows render only while it is open. */
export function ValuesTable({ title, heads, rows }: ValuesTableProps) {
  const t = useT();
  const [opened, setOpened] = useState(false);
  return (
    <details className={classes['twin']} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>{t('charts.table')}</summary>
      {opened && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable regions need keyboard access
        <section className={classes['rows']} aria-label={title} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {heads.map((head) => (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ key, cells }) => (
                <tr key={key}>
                  {cells.map((cell, i) => (
                    <td key={heads[i]}>{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}
