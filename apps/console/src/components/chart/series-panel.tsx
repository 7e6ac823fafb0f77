import { useComputedColorScheme } from '@mantine/core';
import type { EChartsType } from 'echarts/core';
import { useMemo, useState, type ReactNode } from 'react';
import type { Mode } from './chart-theme.ts';
import { ChartTable } from './chart-table.tsx';
import { Chart } from './chart.tsx';
import { DragRange } from './drag-range.tsx';
import { figure } from './figure.ts';
import { time } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { saveBlob, saveFile } from '../../lib/save-file.ts';
import { tokens } from '../../theme/tokens.ts';
import { Download, NoData, Note, Panel } from './panel.tsx';
import { colorOf, csvOf, seriesOption, type Drawing } from './series-option.ts';
import { trimLeadingGaps } from './trim-leading-gaps.ts';
import classes from './panel.module.css';

export interface SeriesPanelProps {
  title: string;
  drawing: Drawing;
  /** The figure of each line: the newest value, or the total. */
  figureOf: (values: readonly (number | null)[], isUnfinished?: boolean) => number | null;
  figureTitle: string;
  onZoom?: ((from: number, to: number) => void) | undefined;
  /** Called with the name of a line that the reader chooses in the legend. */
  onPick?: ((name: string) => void) | undefined;
  tall?: boolean;
  note?: ReactNode;
}

/** A chart over time with its legend, its values as a table, and downloads. */
export function SeriesPanel({
  title,
  drawing: whole,
  figureOf,
  figureTitle,
  onZoom,
  onPick,
  tall = false,
  note,
}: SeriesPanelProps) {
  const t = useT();
  const mode: Mode = useComputedColorScheme('light', { getInitialValueInEffect: false });
  const [chart, setChart] = useState<EChartsType | null>(null);
  const { drawing, since } = useMemo(() => trimLeadingGaps(whole), [whole]);
  const { times, stepSeconds, unit, lines, previous, isUnfinished } = drawing;
  const option = useMemo(() => (now: Mode) => seriesOption(drawing, now), [drawing]);
  const hasData = [...lines, ...(previous ? [previous] : [])].some(({ values }) => values.some((one) => one !== null));
  const entries = lines.map(({ name, label, values }, i) => ({
    name,
    label,
    color: colorOf(name, i, mode),
    value: figure(unit, figureOf(values, isUnfinished)),
  }));
  const previousEntry = previous && { ...previous, value: figure(unit, figureOf(previous.values, isUnfinished)) };
  const summary = [...entries, ...(previousEntry ? [previousEntry] : [])].map(
    ({ label, value }) => `${label} ${value}`,
  );
  const fileName = () => `${title} ${time(new Date())}`;
  const savePng = () => {
    const canvas = chart?.renderToCanvas({ pixelRatio: 2, backgroundColor: tokens[mode].surface });
    canvas?.toBlob((blob) => blob && saveBlob(`${fileName()}.png`, blob));
  };
  const drawn = (
    <Chart
      option={option}
      summary={`${title}${t('common.colon')}${figureTitle} ${summary.join(t('common.comma'))}`}
      onChart={setChart}
    />
  );
  return (
    <Panel
      title={title}
      tall={tall}
      beside={
        hasData && (
          <Legend entries={entries} previousEntry={previousEntry} title={figureTitle} panel={title} onPick={onPick} />
        )
      }
      tools={
        <>
          {note}
          {hasData && (
            <Download
              of={title}
              csv={() => saveFile(`${fileName()}.csv`, csvOf(drawing, t('charts.time')), 'text/csv')}
              png={savePng}
            />
          )}
        </>
      }
    >
      {hasData ? (
        <>
          {since !== null && <Note>{t('charts.since', { time: since })}</Note>}
          {onZoom ? (
            <DragRange
              chart={chart}
              steps={times.length}
              onSelect={(first, last) =>
                onZoom(Date.parse(times[first] ?? ''), Date.parse(times[last] ?? '') + stepSeconds * 1000)
              }
            >
              {drawn}
            </DragRange>
          ) : (
            drawn
          )}
          <ChartTable
            title={title}
            times={times}
            series={[...lines, ...(previous ? [previous] : [])].map(({ label, values }) => ({ name: label, values }))}
            unit={unit}
          />
        </>
      ) : (
        <NoData explained={tall} />
      )}
    </Panel>
  );
}

interface LegendProps {
  entries: readonly { name: string; label: string; color: string; value: string }[];
  previousEntry: { label: string; value: string } | null;
  title: string;
  /** Title of the panel. */
  panel: string;
  onPick: SeriesPanelProps['onPick'];
}

function Legend({ entries, previousEntry, title, panel, onPick }: LegendProps) {
  const t = useT();
  return (
    <ul className={classes['legend']} aria-label={title} title={title}>
      {entries.map(({ name, label, color, value }) => (
        <li key={name}>
          <i className={classes['swatch']} style={{ background: color }} aria-hidden />
          {onPick ? (
            <button type="button" title={t('charts.showOnly', { name: label })} onClick={() => onPick(name)}>
              {label} <b>{value}</b>
            </button>
          ) : (
            <>
              {/* The title already names a single line. */}
              {label !== panel && `${label} `}
              <b>{value}</b>
            </>
          )}
        </li>
      ))}
      {previousEntry && (
        <li>
          <i className={classes['dashed']} aria-hidden />
          {previousEntry.label} <b>{previousEntry.value}</b>
        </li>
      )}
    </ul>
  );
}
