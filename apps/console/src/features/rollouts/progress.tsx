import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import type { Rollout } from './format.ts';
import classes from './rollouts.module.css';

/** Number of nodes that are updated, failed and rolled back. Nodes that are updating do not count as progress. */
export function Progress({ of: { counts } }: { of: Pick<Rollout, 'counts'> }) {
  const t = useT();
  const parts = [
    ['updated', counts.updated],
    ['failed', counts.failed],
    ['rolledBack', counts.rolledBack],
  ] as const;
  const values = { updated: count(counts.updated), total: count(counts.total) };
  return (
    <span className={classes['progress']}>
      <span className={classes['bar']} aria-hidden>
        {parts.map(([name, of]) => (
          <span key={name} data-part={name} style={{ inlineSize: `${(100 * of) / Math.max(1, counts.total)}%` }} />
        ))}
      </span>
      {t('rollouts.progress', values)}
    </span>
  );
}
