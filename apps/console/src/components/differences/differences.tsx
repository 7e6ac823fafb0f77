import type { Difference } from '@edgeloom/contract/versions/versions.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { DifferenceTable } from './difference-table.tsx';
import { kindName, linesOf, NOTHING, objectName, titleOf } from './in-words.ts';
import classes from './differences.module.css';

interface DifferencesProps {
  rows: readonly Difference[];
  /** Total number of differences; `rows` may be the first page. */
  total: number;
  /** Column titles. */
  before: string;
  after: string;
}

/** Differences by object and field, side by side or stacked on narrow screens. */
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
            {kindName(row.kind)}{' '}
            {[row.parent, objectName(row.kind, row.name)].filter((name) => name !== '').join(' · ')}
          </h2>
          {row.fields.length > 0 && (
            <DifferenceTable
              field={t('versions.field')}
              before={row.action === 'added' ? null : before}
              after={row.action === 'removed' ? null : after}
              rows={row.fields.flatMap(({ field, before: was, after: is }) => {
                const [old, now] = [linesOf(row.kind, field, was), linesOf(row.kind, field, is)];
                // Skip unset fields of new objects.
                if (old[0] === NOTHING && now[0] === NOTHING) return [];
                const [othersOfOld, othersOfNow] = row.action === 'changed' ? [now, old] : [old, now];
                return {
                  name: field,
                  title: titleOf(row.kind, field),
                  before: <Lines lines={old} others={othersOfOld} />,
                  after: <Lines lines={now} others={othersOfNow} />,
                };
              })}
            />
          )}
        </section>
      ))}
      {total > rows.length && <p>{t('versions.more', { number: count(total - rows.length) })}</p>}
    </div>
  );
}

/** Marks list entries that the other side lacks. */
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
