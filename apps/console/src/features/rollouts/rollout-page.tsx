import { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { RolloutStrategy } from '@edgeloom/contract/rollouts/rollouts.ts';
import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Page } from '../../components/page/page.tsx';
import { Await } from '../../components/states/await.tsx';
import { PageLoading } from '../../components/states/states.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Pill, toneOf } from '../../components/status/status.tsx';
import { RunPage } from '../../components/step-run/step-run.tsx';
import { Time } from '../../components/values/values.tsx';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useNow } from '../../lib/use-now.ts';
import { useRouteParams } from '../../lib/use-route-params.ts';
import { RollbackRules } from './rollback-rules.tsx';
import { hasFigures, isOpen, progressText, messageText, whatOf, type RolloutDetail } from './format.ts';
import { MAX_LINES, useLiveRollout } from './live-rollout.ts';
import { Progress } from './progress.tsx';
import { RolloutActions } from './rollout-actions.tsx';
import { RolloutLog } from './rollout-log.tsx';
import { RolloutNodes } from './rollout-nodes.tsx';
import classes from './rollouts.module.css';
import { Waves } from './waves.tsx';

const POLL_MS = 10_000;

/** Page of a rollout: waves and gates on the left, nodes and log on the right. */
export function RolloutPage() {
  const { rolloutID: id } = useRouteParams('rolloutID');
  const found = useEndpoint(
    rollouts.get,
    { params: { id } },
    { poll: (read) => (read && isOpen(read) ? POLL_MS : null) },
  );
  return (
    <Await result={found} page="rollouts.title">
      {(read) => <Loaded read={read} readAt={found.at} />}
    </Await>
  );
}

function Loaded({ read, readAt }: { read: RolloutDetail; readAt: number }) {
  const t = useT();
  const language = useLanguage();
  const { rollout, lines } = useLiveRollout(read, readAt);
  const now = useNow(isOpen(rollout));
  const [view, setView] = useState('nodes');
  const { state } = rollout;
  const strategy = RolloutStrategy.parse(rollout.strategy);
  return (
    <Page
      title="rollouts.title"
      name={whatOf(rollout, t)}
      mark={<StatusMark tone={toneOf('rollout', state)} label={t(`status.rollout.${state}`)} />}
      facts={
        <>
          <Pill tone={toneOf('rollout', state)}>{t(`status.rollout.${state}`)}</Pill>
          {(rollout.fast || strategy.type === 'allAtOnce') && <Pill tone="warn">{t('rollouts.fast')}</Pill>}
          <output>{progressText(rollout, now, t, language)}</output>
        </>
      }
      actions={<RolloutActions rollout={rollout} />}
    >
      <RunPage
        side={
          <>
            <Facts>
              <Fact term={t('rollouts.side.nodes')}>
                <Progress of={rollout} />
              </Fact>
              <Fact term={t('rollouts.side.zones')}>
                {rollout.zones.map(({ name }) => name).join(t('common.comma'))}
              </Fact>
              <Fact term={t('rollouts.side.begun')}>
                <Time at={rollout.createdAt} /> · {rollout.createdBy}
              </Fact>
              {rollout.reason !== '' && <Fact term={t('rollouts.side.reason')}>{rollout.reason}</Fact>}
            </Facts>
            {rollout.fault !== null && rollout.message !== null && !hasFigures(rollout.fault) && (
              <div className={classes['fault']}>
                <b>{t(`rollouts.fault.${rollout.fault}`)}</b>
                <p>{messageText(rollout, t, language)}</p>
              </div>
            )}
            <Waves rollout={rollout} now={now} />
            {isOpen(rollout) && (
              <div className={classes['apart']}>
                <RollbackRules strategy={strategy} />
              </div>
            )}
            {state === 'completed' && rollout.counts.away > 0 && (
              <p className={classes['note']}>{t('rollouts.ended')}</p>
            )}
          </>
        }
      >
        <div className={classes['main']}>
          <SegmentedControl
            aria-label={t('rollouts.views.name')}
            value={view}
            onChange={setView}
            data={[
              { value: 'nodes', label: t('rollouts.views.nodes') },
              { value: 'log', label: t('rollouts.views.log') },
            ]}
          />
          {view === 'nodes' ? (
            <RolloutNodes nodes={rollout.nodes} />
          ) : lines === null ? (
            <PageLoading />
          ) : (
            <>
              {lines.length === MAX_LINES && (
                <p className={classes['note']}>{t('rollouts.newest', { count: MAX_LINES })}</p>
              )}
              <RolloutLog lines={lines.toReversed()} />
            </>
          )}
        </div>
      </RunPage>
    </Page>
  );
}
