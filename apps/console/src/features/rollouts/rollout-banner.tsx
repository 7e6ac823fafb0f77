import { rollouts } from '@edgeloom/contract/rollouts/rollouts.calls.ts';
import { lazy, Suspense } from 'react';
import { learnPages } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

const RunningRollout = lazy(async () => {
  const [{ RunningRollout }] = await Promise.all([import('./running-rollout.tsx'), learnPages()]);
  return { default: RunningRollout };
});

/** A banner while a rollout is open; its parts are loaded then. */
export function RolloutBanner() {
  const can = useCan();
  const { data } = useEndpoint(
    rollouts.list,
    { query: { state: ['running', 'paused', 'rollingBack'], pageSize: 1 } },
    { enabled: can(rollouts.list), poll: (page) => (page && page.total > 0 ? 3000 : 20_000) },
  );
  const [rollout] = data?.data ?? [];
  return (
    rollout && (
      <Suspense>
        <RunningRollout rollout={rollout} />
      </Suspense>
    )
  );
}
