import { charts } from '@edgeloom/contract/charts/charts.calls.ts';
import type { ChartMetric } from '@edgeloom/contract/charts/charts.ts';
import { sites } from '@edgeloom/contract/sites/sites.calls.ts';
import { lazy, Suspense, type ReactNode } from 'react';
import { useNavigate } from 'react-router-dom';
import { ChartPanel } from '../../components/chart/chart-panel.tsx';
import { RangeControl } from '../../components/chart/range.tsx';
import { Page, useTab } from '../../components/page/page.tsx';
import { useCan } from '../../lib/use-can.ts';
import { TopList } from '../statistics/top-list.tsx';
import { Attention } from './attention.tsx';
import classes from './dashboard.module.css';
import { KeyFigures, useCards } from './key-figures.tsx';
import { PeriodText } from './period-text.tsx';
import { SiteFilter } from './site-filter.tsx';
import { useDashboard, type DashboardState } from './use-dashboard.ts';
import { useIsYoung } from './use-is-young.ts';

// With the script that draws, as few visits need them first.
const YoungCharts = lazy(async () => ({ default: (await import('./young-charts.tsx')).YoungCharts }));
const RefusedTab = lazy(async () => ({ default: (await import('./refused-tab.tsx')).RefusedTab }));

const tabs = [
  { value: 'overview', label: 'dashboard.tabs.overview' },
  { value: 'blacklist', label: 'dashboard.tabs.blacklist' },
  { value: 'waf', label: 'dashboard.tabs.waf' },
] as const;
const POLL_MS = 60_000;
const others = ['traffic', 'requests', 'cache', 'toUpstream'] as const;

interface TrafficDashboardProps {
  /** The counts of what the account has: "12 sites · 214 domains". */
  count: ReactNode;
  /** Before the figures. */
  first?: ReactNode;
  /** Shown when nothing needs attention. */
  clear: ReactNode;
  children?: ReactNode;
}

/** Traffic of all sites or of one: key figures, charts, top values and what needs attention. */
export function TrafficDashboard({ count, first, clear, children }: TrafficDashboardProps) {
  const can = useCan();
  const state = useDashboard();
  const tab = useTab(tabs);
  if (!can(charts.get))
    return (
      <Page title="dashboard.title" count={count}>
        {first}
        <Attention clear={clear} />
        {children}
      </Page>
    );
  return (
    <Page title="dashboard.title" count={count} tabs={tabs} actions={<Controls state={state} />}>
      {tab === 'overview' ? (
        <>
          {first}
          <Overview state={state} clear={clear} />
          {children}
        </>
      ) : (
        <Suspense>
          <RefusedTab state={state} kind={tab} />
        </Suspense>
      )}
    </Page>
  );
}

function Controls({ state }: { state: DashboardState }) {
  const can = useCan();
  const { data, at } = useCards(state.query);
  return (
    <>
      <PeriodText figures={data} at={at} />
      <RangeControl />
      {can(sites.meta) && <SiteFilter state={state} />}
    </>
  );
}

function Overview({ state, clear }: { state: DashboardState; clear: ReactNode }) {
  const { query, pathOf } = state;
  const isYoung = useIsYoung(state);
  const topProps = { query, top: 10, pollMs: POLL_MS, pathOf } as const;
  const chart = { state, isYoung: isYoung === true };
  return (
    <>
      <KeyFigures state={state} />
      <div className={classes['main']}>
        <MetricChart metric="bandwidth" tall {...chart} />
        <Attention clear={clear} />
      </div>
      <div className={classes['thirds']}>
        <div>{isYoung !== null && <MetricChart metric="status" {...chart} />}</div>
        <TopList kind="url" sortBy="bytes" {...topProps} />
        <TopList kind="country" sortBy="requests" {...topProps} />
      </div>
      <div className={classes['others']}>
        {others.map((metric) => (
          <MetricChart key={metric} metric={metric} {...chart} />
        ))}
      </div>
    </>
  );
}

interface MetricChartProps {
  metric: ChartMetric;
  state: DashboardState;
  isYoung: boolean;
  tall?: boolean;
}

/** A metric over the period, or by the minute while all data is young. */
function MetricChart({ metric, state, isYoung, tall = false }: MetricChartProps) {
  const navigate = useNavigate();
  const { range, site, zoomPath } = state;
  const onZoom = (from: number, to: number) => void navigate(zoomPath(from, to));
  // Hits and requests to origins have no sums by the minute.
  if (!isYoung || metric === 'cache' || metric === 'toUpstream')
    return <ChartPanel metric={metric} range={range} siteID={site} tall={tall} onZoom={onZoom} />;
  // The place has its height before the script arrives, so that charts far below are not near.
  return (
    <div>
      <Suspense>
        <YoungCharts state={state} name={metric} tall={tall} />
      </Suspense>
    </div>
  );
}
