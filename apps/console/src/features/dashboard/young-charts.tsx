import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { seriesTypes } from '@edgeloom/contract/statistics/type-numbers.ts';
import { useMemo } from 'react';
import { newest } from '../../components/chart/figure.ts';
import { Loaded, Note } from '../../components/chart/panel.tsx';
import { totalOf } from '../../components/chart/series-math.ts';
import { SeriesPanel } from '../../components/chart/series-panel.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { drawingOf } from '../statistics/series-drawings.ts';
import type { DashboardState } from './use-dashboard.ts';

const POLL_MS = 10_000;
interface YoungChartsProps {
  state: DashboardState;
  name: 'bandwidth' | 'status';
  tall?: boolean;
}

/** The last hour by the minute: a day would show a single point. */
export function YoungCharts({ state: { query }, name, tall = false }: YoungChartsProps) {
  const t = useT();
  const body = {
    ...query,
    timeInterval: 'oneHour',
    types: [seriesTypes.bandwidthAndTraffic, seriesTypes.status],
    reportInterval: 1,
  } as const;
  const result = useEndpoint(statistics.timeSeries, { body: { ...body, types: [...body.types] } }, { pollMs: POLL_MS });
  const drawing = useMemo(
    () => result.data && drawingOf(result.data, name, t, { isUnfinished: true }),
    [result.data, name, t],
  );
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
            note={<Note>{t('dashboard.lastHour')}</Note>}
          />
        )
      }
    </Loaded>
  );
}
