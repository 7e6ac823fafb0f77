import type { ReactNode } from 'react';
import classes from './difference-table.module.css';

interface DifferenceTableProps {
  /** Name of the object, when no heading shows it. */
  caption?: string;
  field: string;
  /** Column titles; null for the missing side of an addition or removal. */
  before: string | null;
  after: string | null;
  rows: readonly { name: string; title: string; before: ReactNode; after: ReactNode }[];
}

/** Old and new values field by field, side by side or stacked on narrow screens. */
export function DifferenceTable({ caption, field, before, after, rows }: DifferenceTableProps) {
  return (
    <div className={classes['room']}>
      <table className={classes['fields']}>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            <th scope="col">{field}</th>
            {before !== null && <th scope="col">{before}</th>}
            {after !== null && <th scope="col">{after}</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">{row.title}</th>
              {before !== null && (
                <td className={classes['before']}>
                  <del>{row.before}</del>
                </td>
              )}
              {after !== null && (
                <td className={classes['after']}>
                  <ins>{row.after}</ins>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
