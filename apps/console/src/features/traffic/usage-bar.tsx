import { bytes } from '../../lib/format.ts';
import { t } from '../../lib/i18n.ts';
import classes from './traffic.module.css';

/** How much of a package is used, as a bar and in words. */
export function UsageBar({ used, size, state }: { used: number; size: number; state: string }) {
  return (
    <span className={classes['usage']}>
      <span className={classes['bar']} aria-hidden>
        <span data-state={state} style={{ inlineSize: `${Math.min(100, (used / size) * 100)}%` }} />
      </span>
      <span className={classes['words']}>{t('trafficPackages.usedOf', { used: bytes(used), size: bytes(size) })}</span>
    </span>
  );
}
