import type { ComponentType } from 'react';
import { useT } from '../../lib/i18n.ts';
import { ActingAs } from './acting-as.tsx';
import classes from './frame.module.css';

/** In this order: acting as another account, licence, traffic package, rollout. Each is a `Banner`, or null while it has nothing to say. */
const lines: readonly ComponentType[] = [ActingAs];

/** At most two lines (the stylesheet hides what comes after), under the top bar of every page. */
export function Banners() {
  const t = useT();
  return (
    <section className={classes['banners']} aria-label={t('frame.banners')}>
      {lines.map((Line, i) => (
        <Line key={i} />
      ))}
    </section>
  );
}
