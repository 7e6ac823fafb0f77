import type { EChartsCoreOption, EChartsType } from 'echarts/core';
import { useCallback, useEffect, useState } from 'react';
import { toastError } from '../../lib/errors.ts';
import { withinChunkLimit } from '../../lib/time-limit.ts';
import { Chart } from './chart.tsx';
import type { Mode } from './chart-theme.ts';
import classes from './chart.module.css';

interface WorldChartProps {
  option: (mode: Mode, projection: object) => EChartsCoreOption;
  /** Text alternative. */
  summary: string;
  onChart: (chart: EChartsType | null) => void;
  /** Called with the code of a country that the reader clicks. */
  onPick?: ((code: string) => void) | undefined;
}

/** A map of the world, whose shapes load with the first one. */
export function WorldChart({ option, summary, onChart, onPick }: WorldChartProps) {
  const [projection, setProjection] = useState<object | null>(null);
  const [chart, setChart] = useState<EChartsType | null>(null);
  useEffect(() => {
    let gone = false;
    withinChunkLimit(import('./map-parts.ts'))
      .then((parts) => !gone && setProjection(parts.projection))
      .catch((error: unknown) => toastError(error));
    return () => {
      gone = true;
    };
  }, []);
  useEffect(() => {
    if (chart === null || onPick === undefined) return;
    const pick = ({ name }: { name: string }) => name !== '' && onPick(name);
    chart.on('click', pick);
    return () => {
      if (!chart.isDisposed()) chart.off('click', pick);
    };
  }, [chart, onPick]);
  const opened = useCallback(
    (made: EChartsType | null) => {
      setChart(made);
      onChart(made);
    },
    [onChart],
  );
  const drawn = useCallback((mode: Mode) => option(mode, projection ?? {}), [option, projection]);
  return (
    <div className={classes['world']}>
      {projection !== null && <Chart option={drawn} summary={summary} onChart={opened} />}
    </div>
  );
}
