import type { Difference } from '@edgeloom/contract/versions/versions.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { kindName, linesOf, NOTHING, titleOf } from './in-words.ts';
import classes from './differences.module.css';

interface DifferencesProps {
  rows: readonly Difference[];
  /** Of which the rows may be the first. */
  total: number;
  /** What the sides are called. */
  before: string;
  after: string;
}

/** Thing by thing and field by field: side by side where there is room, else one below the other. */
export function Differences({ rows, total, before, after }: DifferencesProps) {
  const t = useT();
  return (
    <div className={classes['differences']}>
      {rows.map((row) => (
        <section key={`${row.kind} ${row.key}`} className={classes['thing']}>
          <h2>
            <span className={classes['action']} data-action={row.action}>
              {t(`versions.actions.${row.action}`)}
            </span>{' '}
            {kindName(row.kind)} {[row.parent, row.name].filter((name) => name !== '').join(' · ')}
          </h2>
          {row.fields.length > 0 && (
            <table className={classes['fields']} data-action={row.action}>
              <thead>
                <tr>
                  <th scope="col">{t('versions.field')}</th>
                  {row.action !== 'added' && <th scope="col">{before}</th>}
                  {row.action !== 'removed' && <th scope="col">{after}</th>}
                </tr>
              </thead>
              <tbody>
                {row.fields.map(({ field, before: was, after: is }) => {
                  const [old, now] = [linesOf(row.kind, field, was), linesOf(row.kind, field, is)];
                  // Of what was not there before, all that is not set would be a line.
                  if (old[0] === NOTHING && now[0] === NOTHING) return null;
                  return (
                    <tr key={field}>
                      <th scope="row">{titleOf(row.kind, field)}</th>
                      {row.action !== 'added' && (
                        <td className={classes['before']}>
                          <del>
                            <Lines lines={old} others={row.action === 'changed' ? now : old} />
                          </del>
                        </td>
                      )}
                      {row.action !== 'removed' && (
                        <td className={classes['after']}>
                          <ins>
                            <Lines lines={now} others={row.action === 'changed' ? old : now} />
                          </ins>
                        </td>
                      )}
                    </tr>
                  );
                })}
              </tbody>
            </table>
          )}
        </section>
      ))}
      {total > rows.length && <p>{t('versions.more', { number: count(total - rows.length) })}</p>}
    </div>
  );
}

/** Of a list, what the other side has not got is marked. */
function Lines({ lines, others }: { lines: readonly string[]; others: readonly string[] }) {
  if (lines.length < 2 && others.length < 2) return lines[0];
  return (
    <ul>
      {lines.map((line, i) => (
        <li key={`${i} ${line}`}>{others.includes(line) ? line : <mark>{line}</mark>}</li>
      ))}
    </ul>
  );
}
