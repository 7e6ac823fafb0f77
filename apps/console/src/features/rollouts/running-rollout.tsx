import { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { IconPlayerPause, IconStairs } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { Banner } from '../../components/frame/banner.tsx';
import { to } from '../../lib/family.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useNow } from '../../lib/use-now.ts';
import { bannerText, type Rollout } from './format.ts';
import { actionsOf, useAsk } from './rollout-actions.tsx';

/** Progress of the rollout, with a button to stop it. */
export function RunningRollout({ rollout }: { rollout: Rollout }) {
  const t = useT();
  const language = useLanguage();
  const can = useCan();
  const ask = useAsk();
  const now = useNow(true);
  const { state } = rollout;
  const step = state === 'paused' ? 'continue' : 'pause';
  return (
    <Banner
      tone={state === 'rollingBack' ? 'bad' : state === 'paused' ? 'held' : 'busy'}
      icon={state === 'paused' ? IconPlayerPause : IconStairs}
      action={
        <>
          {can(rollouts.act) && actionsOf({ ...rollout, state }).includes(step) && (
            <button type="button" onClick={() => ask(rollout, step)}>
              {t(`rollouts.actions.${step}`)}
            </button>
          )}
          <Link to={to(`nodeManage/rollouts/${rollout.id}`)}>{t('common.details')}</Link>
        </>
      }
    >
      {bannerText(rollout, now, t, language)}
    </Banner>
  );
}
