import { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { IconPlayerPause, IconStairs } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { Banner } from '../../components/frame/banner.tsx';
import { to } from '../../lib/family.ts';
import { count, duration } from '../../lib/format.ts';
import { useLanguage, useT, type T } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useNow } from '../../lib/use-now.ts';
import type { Language } from '../../stores/preferences.ts';
import { watchedFor, whatOf, type Rollout } from './in-words.ts';
import { actionsOf, useAsk } from './rollout-actions.tsx';

/** While something is on its way to the nodes: how far it is, and the way to stop it. */
export function RolloutBanner() {
  const t = useT();
  const language = useLanguage();
  const can = useCan();
  const ask = useAsk();
  const { data } = useEndpoint(
    rollouts.list,
    { query: { state: ['running', 'paused', 'rollingBack'], pageSize: 1 } },
    { enabled: can(rollouts.list), poll: (page) => (page && page.total > 0 ? 3000 : 20_000) },
  );
  const [rollout] = data?.data ?? [];
  const now = useNow(rollout !== undefined);
  if (!rollout) return null;
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
      {said(rollout, now, t, language)}
    </Banner>
  );
}

function said(rollout: Rollout, now: number, t: T, language: Language): string {
  const { state, fault, waves } = rollout;
  const wave = waves[rollout.wave];
  const values = {
    what: whatOf(rollout, t),
    wave: rollout.wave + 1,
    updated: count(wave?.updated ?? 0),
    nodes: count(wave?.nodes ?? 0),
  };
  if (state === 'rollingBack')
    return t('rollouts.banner.rollingBack', { ...values, fault: t(`rollouts.fault.${fault ?? 'person'}`) });
  if (state === 'paused') return t('rollouts.banner.paused', values);
  const seconds = wave ? watchedFor(wave, now) : null;
  return seconds === null
    ? t('rollouts.banner.updating', values)
    : t('rollouts.banner.soaking', { ...values, time: duration(seconds, language) });
}
