import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { seriesTypes } from '@edgeloom/contract/statistics/statistics.ts';
import { useMemo, type ReactNode } from 'react';
import { useNavigate } from 'react-router-dom';
import { newest } from '../../components/chart/figure.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { Cards } from './cards.tsx';
import { Loaded } from '../../components/chart/panel.tsx';
import { periodBefore, shiftOf } from './compared-period.ts';
import { SeriesPanel } from '../../components/chart/series-panel.tsx';
import type { Drawing } from '../../components/chart/series-option.ts';
import { sumsOf, totalOf } from '../../components/chart/series-math.ts';
import { drawingOf, isUnfinished, type PanelName, type Series } from './series-drawings.ts';
import { pollOf, type Statistics } from './use-statistics.ts';
import classes from './statistics.module.css';

const types = [seriesTypes.bandwidthAndTraffic, seriesTypes.status, seriesTypes.protocol];

/** Key figures of a page. */
export function useCards({ query, period }: Statistics) {
  const pollMs = pollOf(period);
  return useEndpoint(statistics.cards, { body: query }, pollMs === undefined ? {} : { pollMs });
}

interface OverviewProps {
  state: Statistics;
  isCompared: boolean;
  /** Beside the main chart. */
  children: ReactNode;
}

/** Key figures and charts over time. */
export function Overview({ state, isCompared, children }: OverviewProps) {
  const t = useT();
  const navigate = useNavigate();
  const pollMs = pollOf(state.period);
  const polled = pollMs === undefined ? {} : { pollMs };
  const cards = useCards(state);
  const { query, period, reportInterval, zoom } = state;
  const series = useEndpoint(statistics.timeSeries, { body: { ...query, types, reportInterval } }, polled);
  const before = useEndpoint(
    statistics.timeSeries,
    { body: { ...query, types, reportInterval, ...periodBefore(series.data, period) } },
    { enabled: isCompared && series.data !== undefined && series.data.times.length > 0 },
  );
  const seriesBefore = isCompared ? before.data : undefined;
  const drawings = useMemo(
    () =>
      series.data &&
      drawingsOf(series.data, t, {
        isUnfinished: isUnfinished(period, series.data, series.at),
        before: seriesBefore && { series: seriesBefore, shiftMs: shiftOf(series.data, period) },
      }),
    [series.data, series.at, seriesBefore, period, t],
  );
  const seriesOf = (name: string) => series.data?.series.find((one) => one.name === name)?.values ?? [];
  const panel = (name: PanelName, { tall = false } = {}) =>
    drawings && (
      <SeriesPanel
        title={t(`statistics.series.${name}`)}
        drawing={drawings[name]}
        figureOf={name === 'bandwidth' ? newest : totalOf}
        figureTitle={t(name === 'bandwidth' ? 'statistics.newest' : 'statistics.total')}
        tall={tall}
        onZoom={zoom}
        {...((name === 'status' || name === 'protocol') && {
          onPick: (line) => {
            const isOnly = state.filters[name]?.length === 1 && state.filters[name][0] === line;
            void navigate(state.withFilter(name, isOnly ? null : line));
          },
        })}
      />
    );
  return (
    <>
      <div className={classes['cardsPlace']}>
        <Loaded result={cards}>
          {(figures) => (
            <Cards
              figures={figures}
              sparks={{
                traffic: seriesOf('traffic'),
                requests: drawings ? sumsOf(drawings.status.lines, drawings.status.times.length) : [],
                bandwidth95: seriesOf('bandwidth'),
              }}
            />
          )}
        </Loaded>
      </div>
      <div className={classes['main']}>
        <div className={classes['place']}>
          <Loaded result={series}>{() => panel('bandwidth', { tall: true })}</Loaded>
        </div>
        {children}
      </div>
      {series.data && (
        <div className={classes['columns']} data-refreshing={series.refreshing || undefined}>
          {panel('traffic')}
          {panel('status')}
          {panel('protocol')}
        </div>
      )}
    </>
  );
}

function drawingsOf(
  series: Series,
  t: ReturnType<typeof useT>,
  options: Parameters<typeof drawingOf>[3],
): Record<PanelName, Drawing> {
  return {
    bandwidth: drawingOf(series, 'bandwidth', t, options),
    traffic: drawingOf(series, 'traffic', t, options),
    status: drawingOf(series, 'status', t, options),
    protocol: drawingOf(series, 'protocol', t, options),
  };
}
