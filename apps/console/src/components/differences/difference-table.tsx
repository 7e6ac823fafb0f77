import type { ReactNode } from 'react';
import classes from './difference-table.module.css';

interface DifferenceTableProps {
  /** Whose fields they are, where no heading says it. */
  caption?: string;
  field: string;
  /** What each side is called; null where there is none: of what was added, of what was removed. */
  before: string | null;
  after: string | null;
  rows: readonly { name: string; title: string; before: ReactNode; after: ReactNode }[];
}

/** Field by field what was and what is: side by side where there is room, else one below the other. */
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
