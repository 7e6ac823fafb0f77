import { charts } from '@edgeloom/contract/charts/charts.calls.ts';
import { operatorLicenses } from '@edgeloom/contract/licenses/licenses.calls.ts';
import { overview } from '@edgeloom/contract/overview/overview.calls.ts';
import type { ReactNode } from 'react';
import { ChartPanel, useChart } from '../../components/chart/chart-panel.tsx';
import { RangeControl, useRange } from '../../components/chart/range.tsx';
import { Page } from '../../components/page/page.tsx';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { AllClear } from './all-clear.tsx';
import { Attention } from './attention.tsx';
import classes from './dashboard.module.css';
import { Health } from './health.tsx';
import { InstallationFigures } from './installation-figures.tsx';
import { InstallationHealth } from './installation-health.tsx';
import { Operators } from './operators.tsx';
import { PeriodText } from './period-text.tsx';

const others = ['requests', 'traffic', 'status', 'cache', 'toUpstream'] as const;

/** Customers, licenses, health and traffic of the whole installation. */
export function AdminDashboardPage() {
  const can = useCan();
  const found = useEndpoint(overview.get, {}, { pollMs: 15_000 });
  const clear = <AllClear of={found} isEmpty={({ customers }) => customers?.operators === 0} />;
  const health = (
    <Health>
      <InstallationHealth found={found} />
    </Health>
  );
  const hasCharts = can(charts.get);
  return (
    <Page title="dashboard.title" actions={hasCharts && <Controls />}>
      <InstallationFigures found={found} />
      {can(operatorLicenses.list) && (
        <div className={classes['main']}>
          <Operators />
          <Attention clear={clear} />
        </div>
      )}
      {hasCharts ? <Traffic health={health} /> : health}
    </Page>
  );
}

function Controls() {
  const { data, at } = useChart('bandwidth', useRange());
  return (
    <>
      <PeriodText figures={data} at={at} />
      <RangeControl />
    </>
  );
}

function Traffic({ health }: { health: ReactNode }) {
  const range = useRange();
  return (
    <>
      <div className={classes['main']}>
        <ChartPanel metric="bandwidth" range={range} tall />
        {health}
      </div>
      <div className={classes['others']}>
        {others.map((metric) => (
          <ChartPanel key={metric} metric={metric} range={range} />
        ))}
      </div>
    </>
  );
}
