import { charts } from '@edgeloom/contract/charts/charts.calls.ts';
import type { ReactNode } from 'react';
import { ChartPanel } from '../../components/chart/chart-panel.tsx';
import { useRange } from '../../components/chart/range.tsx';
import { useCan } from '../../lib/use-can.ts';
import classes from './dashboard.module.css';

const others = ['traffic', 'cache', 'requests', 'toUpstream', 'status'] as const;

/** Bandwidth in two thirds of the width, attention items beside it, other metrics below. */
export function DashboardCharts({ beside }: { beside: ReactNode }) {
  const range = useRange();
  const can = useCan();
  if (!can(charts.get)) return beside;
  return (
    <>
      <div className={classes['main']}>
        <ChartPanel metric="bandwidth" range={range} tall />
        {beside}
      </div>
      <div className={classes['others']}>
        {others.map((metric) => (
          <ChartPanel key={metric} metric={metric} range={range} />
        ))}
      </div>
    </>
  );
}
