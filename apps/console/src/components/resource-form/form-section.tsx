import type { ReactNode } from 'react';
import { useT, type Word } from '../../lib/i18n.ts';
import classes from './resource-form.module.css';

/** Fields of a form that belong together, under a heading. */
export function FormSection({ title, children }: { title: Word; children: ReactNode }) {
  const t = useT();
  return (
    <fieldset className={classes['section']}>
      <legend className={classes['sectionTitle']}>{t(title)}</legend>
      {children}
    </fieldset>
  );
}
