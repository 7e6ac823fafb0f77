import { charts } from '@edgeloom/contract/charts/charts.calls.ts';
import type { ChartMetric, ChartRange } from '@edgeloom/contract/charts/charts.ts';
import { IconChartLine } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useWasNear } from '../../lib/use-was-near.ts';
import { Await } from '../states/await.tsx';
import { ChartTable } from './chart-table.tsx';
import { Chart } from './chart.tsx';
import { figure, newest, timeOption, type Figures } from './time-option.ts';
import classes from './chart.module.css';

interface ChartPanelProps {
  metric: ChartMetric;
  range: ChartRange;
  /** Taller than other charts, for the main chart of a dashboard. */
  tall?: boolean;
}

/** One metric over time, or a note when there is no data. Loads when the reader is about to see it. */
export function ChartPanel({ metric, range, tall = false }: ChartPanelProps) {
  const t = useT();
  const [panel, wasNear] = useWasNear();
  return (
    <section ref={panel} className={classes['panel']} data-tall={tall || undefined}>
      <h2 className={classes['title']}>{t(`charts.metrics.${metric}`)}</h2>
      {wasNear && <Loaded metric={metric} range={range} tall={tall} />}
    </section>
  );
}

function Loaded({ metric, range, tall }: Required<ChartPanelProps>) {
  const result = useEndpoint(charts.get, { params: { metric }, query: { range } }, { pollMs: 300_000 });
  return (
    <Await result={result}>
      {(figures) => (figures.hasData ? <Drawn figures={figures} /> : <NoFigures explained={tall} />)}
    </Await>
  );
}

function NoFigures({ explained }: { explained: boolean }) {
  const t = useT();
  return (
    <div className={classes['none']}>
      <IconChartLine size={22} stroke={1.5} aria-hidden />
      <b>{t('charts.none')}</b>
      {explained && <span>{t('charts.noneWhy')}</span>}
    </div>
  );
}

const seriesName = (t: ReturnType<typeof useT>, metric: ChartMetric, name: string) =>
  metric === 'status' ? name : t(`charts.metrics.${metric}`);

function Drawn({ figures }: { figures: Figures }) {
  const t = useT();
  const { metric, unit, series, times } = figures;
  const option = useMemo(
    () => (mode: 'light' | 'dark') => timeOption(figures, (name) => seriesName(t, figures.metric, name), mode),
    [figures, t],
  );
  const now = series.map(({ name, values }) => `${seriesName(t, metric, name)} ${figure(unit, newest(values))}`);
  return (
    <>
      <p className={classes['now']}>{now.join(' · ')}</p>
      <Chart option={option} summary={now.join(t('common.comma'))} />
      <ChartTable
        title={t(`charts.metrics.${metric}`)}
        times={times}
        series={series.map(({ name, values }) => ({ name: seriesName(t, metric, name), values }))}
        unit={unit}
      />
    </>
  );
}
