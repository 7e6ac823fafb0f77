import type { ComponentType } from 'react';
import { useT } from '../../lib/i18n.ts';
import { ActingAs } from './acting-as.tsx';
import classes from './frame.module.css';

/**
 * At most two lines under the top bar (the stylesheet hides the rest): the switched account, then the console's own
 * banners in order. Each is a `Banner` or null.
 */
export function Banners({ more }: { more: readonly ComponentType[] }) {
  const t = useT();
  const lines = [ActingAs, ...more];
  return (
    <section className={classes['banners']} aria-label={t('frame.banners')}>
      {lines.map((Line, i) => (
        <Line key={i} />
      ))}
    </section>
  );
}
