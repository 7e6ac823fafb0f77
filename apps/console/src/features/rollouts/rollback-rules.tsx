import type { RolloutStrategy } from '@edgeloom/contract/rollouts/rollouts.ts';
import { count } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { rollbackConditions } from './format.ts';
import classes from './rollouts.module.css';

/** When the rollout rolls back automatically. */
export function RollbackRules({ strategy }: { strategy: RolloutStrategy }) {
  const t = useT();
  const language = useLanguage();
  const conditions = rollbackConditions(strategy, t, language);
  if (strategy.type === 'allAtOnce') return <p className={classes['note']}>{t('rollouts.rules.never')}</p>;
  return (
    <div className={classes['note']}>
      <p>{t('rollouts.rules.all')}</p>
      <ul>
        {conditions.map((condition) => (
          <li key={condition}>{condition}</li>
        ))}
      </ul>
      <p>{t('rollouts.rules.few', { requests: count(strategy.gates.requests) })}</p>
      <p>{t('rollouts.rules.customers')}</p>
    </div>
  );
}
