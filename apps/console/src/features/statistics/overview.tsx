import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { seriesTypes } from '@edgeloom/contract/statistics/statistics.ts';
import { useMemo, type ReactNode } from 'react';
import { newest } from '../../components/chart/time-option.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { Cards } from './cards.tsx';
import { Loaded } from './panel.tsx';
import { instant, type Period } from './period.ts';
import { SeriesPanel } from './series-panel.tsx';
import { shifted, sumsOf, totalOf, type Drawing } from './series-option.ts';
import { pollOf, type Statistics } from './use-statistics.ts';
import classes from './statistics.module.css';

type Series = Received<typeof statistics.timeSeries>;
const DAY_MS = 86_400_000;
const types = Object.values(seriesTypes);

/** Drawings by panel: each has the series of these names. */
const panels = {
  bandwidth: { names: ['bandwidth'], unit: 'bit' },
  traffic: { names: ['traffic'], unit: 'byte' },
  status: { names: ['2xx', '3xx', '4xx', '5xx', '9xx'], unit: 'count' },
  protocol: { names: ['ipv4', 'ipv6'], unit: 'count' },
} as const;
type PanelName = keyof typeof panels;

interface OverviewProps {
  state: Statistics;
  isCompared: boolean;
  /** Beside the main chart. */
  children: ReactNode;
}

/** Key figures and charts over time. */
export function Overview({ state, isCompared, children }: OverviewProps) {
  const t = useT();
  const pollMs = pollOf(state.period);
  const polled = pollMs === undefined ? {} : { pollMs };
  const cards = useEndpoint(statistics.cards, { body: state.query }, polled);
  const { query, period, reportInterval, zoom } = state;
  const series = useEndpoint(statistics.timeSeries, { body: { ...query, types, reportInterval } }, polled);
  const before = useEndpoint(
    statistics.timeSeries,
    { body: { ...query, types, reportInterval, ...periodBefore(series.data, period) } },
    { enabled: isCompared && series.data !== undefined && series.data.times.length > 0 },
  );
  const compared = isCompared ? before.data : undefined;
  const drawings = useMemo(
    () => series.data && drawingsOf(series.data, compared, shiftOf(series.data, period), t),
    [series.data, compared, period, t],
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

/** How far back the compared period lies: whole days for calendar days, otherwise the period's length. */
function shiftOf({ from, to, stepSeconds }: Series, period: Period): number {
  if (period.interval === 'today' || period.interval === 'yesterday') return DAY_MS;
  const stepMs = stepSeconds * 1000;
  return Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / stepMs)) * stepMs;
}

function periodBefore(series: Series | undefined, period: Period) {
  const [first] = series?.times ?? [];
  if (series === undefined || first === undefined) return {};
  const shift = shiftOf(series, period);
  const start = Date.parse(first) - shift;
  return {
    timeInterval: 'custom',
    startTime: instant(start),
    endTime: instant(start + series.times.length * series.stepSeconds * 1000),
  } as const;
}

function drawingsOf(
  { times, stepSeconds, series }: Series,
  before: Series | undefined,
  shiftMs: number,
  t: ReturnType<typeof useT>,
): Record<PanelName, Drawing> {
  const labelOf = (name: string) =>
    name === 'ipv4'
      ? 'IPv4'
      : name === 'ipv6'
        ? 'IPv6'
        : name === 'bandwidth' || name === 'traffic'
          ? t(`statistics.series.${name}`)
          : name;
  const drawing = (panel: PanelName): Drawing => {
    const { names, unit } = panels[panel];
    const linesOf = (all: Series['series']) =>
      names.flatMap((name) => {
        const found = all.find((one) => one.name === name);
        return found ? [{ name, label: labelOf(name), values: found.values }] : [];
      });
    return {
      times,
      stepSeconds,
      unit,
      lines: linesOf(series),
      isStacked: names.length > 1,
      previous: before
        ? {
            label: t('statistics.before'),
            values: shifted(times, shiftMs, {
              times: before.times,
              stepSeconds: before.stepSeconds,
              values: sumsOf(linesOf(before.series), before.times.length),
            }),
          }
        : null,
    };
  };
  return {
    bandwidth: drawing('bandwidth'),
    traffic: drawing('traffic'),
    status: drawing('status'),
    protocol: drawing('protocol'),
  };
}
