import type { ReactNode } from 'react';
import { useT, type Word } from '../../lib/i18n.ts';
import classes from './dashboard.module.css';

export function Panel({ title, children }: { title: Word; children: ReactNode }) {
  const t = useT();
  return (
    <section className={classes['panel']} aria-label={t(title)}>
      <h2>{t(title)}</h2>
      {children}
    </section>
  );
}
