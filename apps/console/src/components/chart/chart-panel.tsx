import { charts } from '@edgeloom/contract/charts/charts.calls.ts';
import type { ChartMetric, ChartRange } from '@edgeloom/contract/charts/charts.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { useMemo } from 'react';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useWasNear } from '../../lib/use-was-near.ts';
import { Loaded, Panel } from './panel.tsx';
import type { Drawing } from './series-option.ts';
import { totalOf } from './series-math.ts';
import { LazySeriesPanel } from './lazy-series-panel.tsx';
import { newest } from './figure.ts';

type Figures = Received<typeof charts.get>;

interface ChartPanelProps {
  metric: ChartMetric;
  range: ChartRange;
  siteID?: string | undefined;
  /** Taller than other charts, for the main chart of a dashboard. */
  tall?: boolean;
  onZoom?: (from: number, to: number) => void;
}

const POLL_MS = 60_000;
/** Until the first figures arrive. */
const FIRST_POLL_MS = 10_000;

/** One metric of all sites, or of one. */
export const useChart = (metric: ChartMetric, range: ChartRange, siteID?: string) =>
  useEndpoint(
    charts.get,
    { params: { metric }, query: { range, ...(siteID !== undefined && { siteID }) } },
    { poll: (figures) => (figures?.hasData === false ? FIRST_POLL_MS : POLL_MS) },
  );

/** One metric over time, or a note when there is no data. Loads when the reader is about to see it. */
export function ChartPanel(props: ChartPanelProps) {
  const t = useT();
  const [place, wasNear] = useWasNear();
  return (
    <div ref={place}>
      {wasNear ? <Near {...props} /> : <Panel title={t(`charts.metrics.${props.metric}`)}>{null}</Panel>}
    </div>
  );
}

function Near({ metric, range, siteID, tall = false, onZoom }: ChartPanelProps) {
  const t = useT();
  const result = useChart(metric, range, siteID);
  const drawing = useMemo(() => result.data && drawingOf(result.data, t), [result.data, t]);
  // Shows the sum; for rates and shares, the newest step.
  const isRate = metric === 'bandwidth' || metric === 'cache';
  return (
    <Loaded result={result}>
      {() =>
        drawing && (
          <LazySeriesPanel
            title={t(`charts.metrics.${metric}`)}
            drawing={drawing}
            figureOf={isRate ? newest : totalOf}
            figureTitle={t(isRate ? 'statistics.newest' : 'statistics.total')}
            tall={tall}
            onZoom={onZoom}
          />
        )
      }
    </Loaded>
  );
}

function drawingOf({ metric, times, stepSeconds, unit, series }: Figures, t: ReturnType<typeof useT>): Drawing {
  return {
    times,
    stepSeconds,
    unit,
    isStacked: metric === 'status',
    lines: series.map(({ name, values }) => ({
      name,
      label: metric === 'status' ? name : t(`charts.metrics.${metric}`),
      values,
    })),
    previous: null,
    // The API ends with the current step.
    isUnfinished: true,
  };
}
