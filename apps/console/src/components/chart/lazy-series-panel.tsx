import { lazy, Suspense } from 'react';
import { withinChunkLimit } from '../../lib/time-limit.ts';
import { NoData, Panel } from './panel.tsx';
import type { SeriesPanelProps } from './series-panel.tsx';

const Drawn = lazy(async () => ({ default: (await withinChunkLimit(import('./series-panel.tsx'))).SeriesPanel }));

/** For dashboards, which open first: the script that draws loads with the first data. */
export function LazySeriesPanel(props: SeriesPanelProps) {
  const { title, drawing, tall = false } = props;
  if (drawing.lines.every(({ values }) => values.every((value) => value === null)))
    return (
      <Panel title={title} tall={tall}>
        <NoData explained={tall} />
      </Panel>
    );
  return (
    <Suspense
      fallback={
        <Panel title={title} tall={tall}>
          {null}
        </Panel>
      }
    >
      <Drawn {...props} />
    </Suspense>
  );
}
