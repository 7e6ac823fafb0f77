import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import { to as inConsole } from '../../lib/family.ts';
import { useT, type Word } from '../../lib/i18n.ts';
import { count } from '../../lib/format.ts';
import { nothing } from '../../lib/format.ts';
import classes from './dashboard.module.css';

export interface Figure {
  title: Word;
  value: number | null | undefined;
  to?: string;
}

/** Key figures in a row. An unknown figure is a dash, not zero. */
export function Figures({ figures }: { figures: readonly Figure[] }) {
  const t = useT();
  return (
    <dl className={classes['figures']}>
      {figures.map(({ title, value, to }) => {
        const shown = value == null ? nothing : count(value);
        return (
          <div key={title} className={classes['figure']}>
            <dt>{t(title)}</dt>
            <dd>{to === undefined ? shown : <Link to={inConsole(to)}>{shown}</Link>}</dd>
          </div>
        );
      })}
    </dl>
  );
}

export function Panel({ title, children }: { title: Word; children: ReactNode }) {
  const t = useT();
  return (
    <section className={classes['panel']} aria-label={t(title)}>
      <h2>{t(title)}</h2>
      {children}
    </section>
  );
}
