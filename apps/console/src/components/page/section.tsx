import type { ReactNode } from 'react';
import { useT, type Word } from '../../lib/i18n.ts';
import classes from './page.module.css';

interface SectionProps {
  title: Word;
  /** One or two lines of why. */
  why?: Word;
  /** The content is not a row of fields: a table, a list. */
  wide?: boolean;
  children: ReactNode;
}

/** A row of a settings page: what and why at the left, the fields at the right. */
export function Section({ title, why, wide = false, children }: SectionProps) {
  const t = useT();
  return (
    <section className={classes['section']} data-wide={wide || undefined}>
      <div>
        <h2 className={classes['sectionTitle']}>{t(title)}</h2>
        {why && <p className={classes['why']}>{t(why)}</p>}
      </div>
      <div className={classes['fields']}>{children}</div>
    </section>
  );
}
