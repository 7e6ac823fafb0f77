import type { ChartMetric } from '@edgeloom/contract/charts/charts.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { seriesTypes } from '@edgeloom/contract/statistics/type-numbers.ts';
import { useMemo } from 'react';
import { newest } from '../../components/chart/figure.ts';
import { Loaded, Note } from '../../components/chart/panel.tsx';
import type { Drawing } from '../../components/chart/series-option.ts';
import { sumsOf, totalOf } from '../../components/chart/series-math.ts';
import { SeriesPanel } from '../../components/chart/series-panel.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { drawingOf, type Series } from '../statistics/series-drawings.ts';
import type { DashboardState } from './use-dashboard.ts';

const POLL_MS = 10_000;
type YoungMetric = Exclude<ChartMetric, 'cache' | 'toUpstream'>;
interface YoungChartsProps {
  state: DashboardState;
  name: YoungMetric;
  tall?: boolean;
}

/** The last hours by the minute, from the first data on: a day would show some points. */
export function YoungCharts({ state: { query }, name, tall = false }: YoungChartsProps) {
  const t = useT();
  const body = {
    ...query,
    timeInterval: 'sixHours',
    types: [seriesTypes.bandwidthAndTraffic, seriesTypes.status, seriesTypes.protocol],
    reportInterval: 1,
  } as const;
  const result = useEndpoint(statistics.timeSeries, { body: { ...body, types: [...body.types] } }, { pollMs: POLL_MS });
  const drawing = useMemo(() => result.data && youngDrawing(result.data, name, t), [result.data, name, t]);
  return (
    <Loaded result={result}>
      {() =>
        drawing && (
          <SeriesPanel
            title={t(`charts.metrics.${name}`)}
            drawing={drawing}
            figureOf={name === 'bandwidth' ? newest : totalOf}
            figureTitle={t(name === 'bandwidth' ? 'statistics.newest' : 'statistics.total')}
            tall={tall}
            note={<Note>{t('statistics.steps.1')}</Note>}
          />
        )
      }
    </Loaded>
  );
}

function youngDrawing(series: Series, name: YoungMetric, t: ReturnType<typeof useT>): Drawing {
  const options = { isUnfinished: true };
  if (name !== 'requests') return drawingOf(series, name, t, options);
  const { lines, ...byProtocol } = drawingOf(series, 'protocol', t, options);
  const values = sumsOf(lines, series.times.length);
  return { ...byProtocol, isStacked: false, lines: [{ name, label: t('charts.metrics.requests'), values }] };
}
