import type { EChartsType } from 'echarts/core';
import { useRef, useState, type PointerEvent, type ReactNode } from 'react';
import classes from './chart.module.css';

interface DragRangeProps {
  chart: EChartsType | null;
  /** Number of steps on the time axis, which is a category axis. */
  steps: number;
  /** First and last step of the selected part. */
  onSelect: (first: number, last: number) => void;
  children: ReactNode;
}

/** Shorter drags are clicks. */
const MIN_DRAG_PX = 8;

/** Selects a part of the chart's time axis by dragging with a mouse or pen. */
export function DragRange({ chart, steps, onSelect, children }: DragRangeProps) {
  const start = useRef<number | null>(null);
  const [selected, setSelected] = useState<{ left: number; width: number } | null>(null);

  const positionOf = (event: PointerEvent) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return Math.min(width, Math.max(0, event.clientX - left));
  };
  const finish = () => {
    start.current = null;
    setSelected(null);
  };
  return (
    <div
      className={classes['drag']}
      onPointerDown={(event) => {
        // A finger scrolls the page.
        if (chart === null || event.button !== 0 || event.pointerType === 'touch') return;
        start.current = positionOf(event);
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (start.current === null) return;
        const at = positionOf(event);
        setSelected({ left: Math.min(start.current, at), width: Math.abs(at - start.current) });
      }}
      onPointerUp={(event) => {
        if (start.current === null || chart === null) return;
        const ends = [start.current, positionOf(event)].toSorted((a, b) => a - b);
        finish();
        const [from = 0, to = 0] = ends;
        if (to - from < MIN_DRAG_PX) return;
        const [first, last] = ends.map((x) =>
          Math.min(steps - 1, Math.max(0, Math.round(chart.convertFromPixel({ xAxisIndex: 0 }, x)))),
        );
        if (first !== undefined && last !== undefined && last > first) onSelect(first, last);
      }}
      onPointerCancel={finish}
    >
      {children}
      {selected && <div className={classes['selected']} style={selected} />}
    </div>
  );
}
