import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { Button } from '@mantine/core';
import { useMemo, useState, type PointerEvent, type ReactNode } from 'react';
import { Chart } from '../../components/chart/chart.tsx';
import { ChartTable } from '../../components/chart/chart-table.tsx';
import { explain, withCode } from '../../lib/errors.ts';
import { count, nothing } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { barAt, histogramOption, intervalOf, periodOfBars, totals, type Figures } from './histogram-option.ts';
import { hasRowFilters, type LogState, type Period, type TimeWindow } from './log-state.ts';
import classes from './logs.module.css';

/** Requests of the window by status family. Statistics know sites and domains, but none of the other filters. */
export function useFigures({ only }: LogState, window: TimeWindow | undefined, enabled: boolean, now: number) {
  return useEndpoint(
    statistics.timeSeries,
    {
      body: {
        types: [12],
        timeInterval: 'custom',
        reportInterval: window ? intervalOf(window, now) : 1,
        ...window,
        ...(only.siteIDs && { siteIDs: [...only.siteIDs] }),
        ...(only.noSite && { noSite: true as const }),
        ...(only.domains && { domains: [...only.domains] }),
      },
    },
    { enabled: enabled && window !== undefined },
  );
}

interface HistogramProps {
  state: LogState;
  result: ReturnType<typeof useFigures>;
  onNarrow: (period: Period) => void;
}

export function Histogram({ state, result, onNarrow }: HistogramProps) {
  const t = useT();
  const { data, error, retry } = result;
  return (
    <section className={classes['histogram']} aria-label={t('logs.chart.title')}>
      {data === undefined ? (
        <div className={classes['chartPlace']}>
          {error && (
            <p className={classes['note']}>
              {t('common.states.failedOf', { text: t('logs.chart.title') })}
              {t('common.colon')}
              {withCode(explain(error))}
              <Button size="compact-xs" variant="subtle" onClick={retry}>
                {t('common.retry')}
              </Button>
            </p>
          )}
        </div>
      ) : (
        <Drawn figures={data} note={hasRowFilters(state) && t('logs.chart.partly')} onNarrow={onNarrow} />
      )}
    </section>
  );
}

interface DrawnProps {
  figures: Figures;
  note: ReactNode;
  onNarrow: (period: Period) => void;
}

function Drawn({ figures, note, onNarrow }: DrawnProps) {
  const t = useT();
  const option = useMemo(() => (mode: 'light' | 'dark') => histogramOption(figures, mode), [figures]);
  const summary = totals(figures)
    .map(({ name, total }) => `${name} ${total === null ? nothing : count(total)}`)
    .join(t('common.comma'));
  return (
    <>
      <Brush figures={figures} onNarrow={onNarrow}>
        <Chart option={option} summary={`${t('logs.chart.title')}${t('common.colon')}${summary}`} />
      </Brush>
      <div className={classes['below']}>
        <ChartTable title={t('logs.chart.title')} times={figures.times} series={figures.series} unit="count" />
        {note && <p className={classes['note']}>{note}</p>}
      </div>
    </>
  );
}

/** A shorter movement is a click. */
const MIN_DRAG_PX = 4;

interface Drag {
  startX: number;
  one: number;
  other: number;
  hasMoved: boolean;
}

/** Dragging over the bars narrows the time. The time chip does the same by keyboard. */
function Brush({ figures, onNarrow, children }: Omit<DrawnProps, 'note'> & { children: ReactNode }) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const bars = figures.times.length;
  const barOf = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return barAt((event.clientX - left) / width, bars);
  };
  const end = () => {
    setDrag(null);
    const period = drag?.hasMoved ? periodOfBars(figures, drag.one, drag.other) : null;
    if (period) onNarrow(period);
  };
  const first = drag ? Math.min(drag.one, drag.other) : 0;
  const width = drag ? Math.abs(drag.other - drag.one) + 1 : 0;
  return (
    <div
      className={classes['brush']}
      onPointerDown={(event) => {
        if (event.button !== 0 || bars === 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const bar = barOf(event);
        setDrag({ startX: event.clientX, one: bar, other: bar, hasMoved: false });
      }}
      onPointerMove={(event) => {
        if (!drag) return;
        const hasMoved = drag.hasMoved || Math.abs(event.clientX - drag.startX) >= MIN_DRAG_PX;
        setDrag({ ...drag, other: barOf(event), hasMoved });
      }}
      onPointerUp={end}
      onPointerCancel={() => setDrag(null)}
    >
      {children}
      {drag?.hasMoved && (
        <div
          className={classes['brushed']}
          style={{ left: `${(first / bars) * 100}%`, width: `${(width / bars) * 100}%` }}
        />
      )}
    </div>
  );
}
