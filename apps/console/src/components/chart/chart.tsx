import { useComputedColorScheme } from '@mantine/core';
import type { EChartsCoreOption, EChartsType } from 'echarts/core';
import { useEffect, useRef, useState } from 'react';
import { toastError } from '../../lib/errors.ts';
import { withinChunkLimit } from '../../lib/time-limit.ts';
import type { Mode } from './chart-theme.ts';
import classes from './chart.module.css';

interface ChartProps {
  option: (mode: Mode) => EChartsCoreOption;
  /** Text alternative. */
  summary: string;
  /** Called with the chart when it opens, and with null when it closes. Must be stable. */
  onChart?: (chart: EChartsType | null) => void;
}

/** Updates reuse the chart instance, so that live charts do not flicker. */
export function Chart({ option, summary, onChart }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const mode = useComputedColorScheme('light', { getInitialValueInEffect: false });
  const [chart, setChart] = useState<EChartsType | null>(null);
  useEffect(() => {
    let stop = () => {};
    let gone = false;
    const mount = async () => {
      const { openChart } = await withinChunkLimit(import('./echarts.ts'));
      if (gone || !box.current) return;
      const opened = openChart(box.current, mode);
      const observer = new ResizeObserver(() => opened.resize());
      observer.observe(box.current);
      setChart(opened);
      stop = () => {
        observer.disconnect();
        opened.dispose();
      };
    };
    void mount().catch((error: unknown) => toastError(error));
    return () => {
      gone = true;
      setChart(null);
      stop();
    };
  }, [mode]);
  useEffect(() => onChart?.(chart), [chart, onChart]);
  useEffect(() => {
    if (chart && !chart.isDisposed()) chart.setOption(option(mode));
  }, [chart, option, mode]);
  return (
    // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a canvas has no img tag
    <figure className={classes['figure']} role="img" aria-label={summary}>
      <div ref={box} className={classes['canvas']} aria-hidden />
    </figure>
  );
}
