import type { ComponentType } from 'react';
import { useT } from '../../lib/i18n.ts';
import { ActingAs } from './acting-as.tsx';
import classes from './frame.module.css';

/** At most two lines (the stylesheet hides what comes after), under the top bar of every page: acting as another account, then
 *  those of the console in its order (licence, traffic package, rollout). Each is a `Banner`, or null while it has nothing to say. */
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
