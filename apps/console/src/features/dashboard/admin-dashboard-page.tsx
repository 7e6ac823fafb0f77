import { charts } from '@edgeloom/contract/charts/charts.calls.ts';
import { ChartPanel } from '../../components/chart/chart-panel.tsx';
import { RangeControl, useRange } from '../../components/chart/range.tsx';
import { Page } from '../../components/page/page.tsx';
import { useCan } from '../../lib/use-can.ts';
import { Attention } from './attention.tsx';
import classes from './dashboard.module.css';
import { Health } from './health.tsx';

const others = ['traffic', 'requests', 'status', 'cache', 'toUpstream'] as const;

/** Licenses that need attention, and the traffic of the whole installation. */
export function AdminDashboardPage() {
  const can = useCan();
  const range = useRange();
  if (!can(charts.get))
    return (
      <Page title="dashboard.title">
        <Attention />
        <Health />
      </Page>
    );
  return (
    <Page title="dashboard.title" actions={<RangeControl />}>
      <div className={classes['main']}>
        <ChartPanel metric="bandwidth" range={range} tall />
        <Attention />
      </div>
      <div className={classes['others']}>
        {others.map((metric) => (
          <ChartPanel key={metric} metric={metric} range={range} />
        ))}
      </div>
      <Health />
    </Page>
  );
}
