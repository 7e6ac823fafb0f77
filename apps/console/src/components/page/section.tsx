import type { ReactNode } from 'react';
import { useT, type Word } from '../../lib/i18n.ts';
import classes from './page.module.css';

interface SectionProps {
  title: Word;
  /** One or two lines of explanation. */
  why?: Word;
  /** Full-width content such as a table. */
  wide?: boolean;
  children: ReactNode;
}

/** A section of a settings page: explanation on the left, fields on the right. */
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
