import { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { RolloutKind, RolloutState } from '@edgeloom/contract/rollouts/rollouts.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { IconStairs } from '@tabler/icons-react';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill, Status } from '../../components/status/status.tsx';
import { count } from '../../lib/format.ts';
import { currentLanguage, t } from '../../lib/i18n.ts';
import { progressText, whatOf, type Rollout } from './format.ts';
import { Progress } from './progress.tsx';
import classes from './rollouts.module.css';

const isFast = ({ fast, strategy }: Rollout) => fast || strategy.type === 'allAtOnce';

const stateOf = (rollout: Rollout) => (
  <Status kind="rollout" value={rollout.state} why={progressText(rollout, Date.now(), t, currentLanguage())} />
);

/** A long name may be truncated, but the version at its end may not. */
function What({ of: rollout }: { of: Rollout }) {
  const what = whatOf(rollout, t);
  const end = what.lastIndexOf(' ');
  return (
    <span className={classes['what']} title={what}>
      <span>{what.slice(0, end)}</span>
      <span>{what.slice(end)}</span>
      {isFast(rollout) && <Pill tone="warn">{t('rollouts.fast')}</Pill>}
    </span>
  );
}

const columns: Column<Rollout>[] = [
  {
    key: 'what',
    flexible: true,
    to: ({ id }) => `nodeManage/rollouts/${id}`,
    sort: false,
    render: (rollout) => <What of={rollout} />,
    text: (rollout) => [whatOf(rollout, t), ...(isFast(rollout) ? [t('rollouts.fast')] : [])].join(' · '),
  },
  { key: 'state', flexible: true, sort: false, render: stateOf, text: ({ state }) => t(`status.rollout.${state}`) },
  {
    key: 'progress',
    sort: false,
    render: (rollout) => <Progress of={rollout} />,
    text: ({ counts }) => `${counts.updated}/${counts.total}`,
  },
  {
    key: 'zones',
    flexible: true,
    priority: 2,
    sort: false,
    render: ({ zones: those }) => those.map(({ name }) => name).join(t('common.comma')),
    text: ({ zones: those }) => those.map(({ name }) => name).join(', '),
  },
  { key: 'reason', flexible: true, priority: 3, sort: false },
  { key: 'createdBy', flexible: true, priority: 2, sort: false },
  { key: 'createdAt', as: 'time' },
];

/** Table of rollouts, optionally of one kind or zone. */
export function RolloutsTable({ kind, zoneID }: { kind?: RolloutKind; zoneID?: string }) {
  return (
    <ResourceTable
      endpoint={rollouts.list}
      columns={columns}
      caption="rollouts.title"
      {...(kind && { counted: () => null })}
      sort="-createdAt"
      pollMs={5000}
      query={{ ...(kind && { kind }), ...(zoneID !== undefined && { zoneID }) }}
      filters={[
        { key: 'state', choices: RolloutState.options, status: 'rollout', many: true },
        { key: 'stopped', yesNo: true },
        ...(kind ? [] : [{ key: 'kind', choices: RolloutKind.options }]),
        ...(zoneID === undefined ? [{ key: 'zoneID', meta: zones.meta }] : []),
      ]}
      phone={(rollout) => ({
        below: stateOf(rollout),
        end: t('rollouts.progress', {
          updated: count(rollout.counts.updated),
          total: count(rollout.counts.total),
        }),
      })}
      empty={{ icon: IconStairs }}
    />
  );
}
