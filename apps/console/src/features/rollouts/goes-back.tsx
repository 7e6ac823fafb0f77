import type { RolloutStrategy } from '@edgeloom/contract/rollouts/rollouts.ts';
import { count } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { reasonsToGoBack } from './in-words.ts';
import classes from './rollouts.module.css';

/** Said before it happens, and before it is begun. */
export function GoesBack({ strategy }: { strategy: RolloutStrategy }) {
  const t = useT();
  const language = useLanguage();
  const reasons = reasonsToGoBack(strategy, t, language);
  if (strategy.type === 'allAtOnce') return <p className={classes['note']}>{t('rollouts.back.never')}</p>;
  return (
    <div className={classes['note']}>
      <p>{t('rollouts.back.all')}</p>
      <ul>
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
      <p>{t('rollouts.back.few', { requests: count(strategy.gates.requests) })}</p>
      <p>{t('rollouts.back.customers')}</p>
    </div>
  );
}
