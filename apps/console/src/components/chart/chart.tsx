import { useComputedColorScheme } from '@mantine/core';
import type { EChartsCoreOption } from 'echarts/core';
import { useEffect, useRef } from 'react';
import type { Mode } from './chart-theme.ts';
import classes from './chart.module.css';

interface ChartProps {
  option: (mode: Mode) => EChartsCoreOption;
  /** What it says, for whoever does not see it. */
  summary: string;
}

/** Mounts, resizes and disposes; what is drawn is the option's matter. */
export function Chart({ option, summary }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const mode = useComputedColorScheme('light', { getInitialValueInEffect: false });
  useEffect(() => {
    let stop = () => {};
    let gone = false;
    const mount = async () => {
      const { openChart } = await import('./echarts.ts');
      if (gone || !box.current) return;
      const chart = openChart(box.current, mode);
      chart.setOption(option(mode));
      const observer = new ResizeObserver(() => chart.resize());
      observer.observe(box.current);
      stop = () => {
        observer.disconnect();
        chart.dispose();
      };
    };
    void mount();
    return () => {
      gone = true;
      stop();
    };
  }, [option, mode]);
  return (
    <figure className={classes['figure']}>
      <div ref={box} className={classes['canvas']} aria-hidden />
      <figcaption className="hidden-text">{summary}</figcaption>
    </figure>
  );
}
