import { useComputedColorScheme } from '@mantine/core';
import type { CountrySource } from '@edgeloom/contract/statistics/statistics.ts';
import type { EChartsType } from 'echarts/core';
import { useCallback, useState, type ReactNode } from 'react';
import { useNavigate } from 'react-router-dom';
import type { Mode } from '../../components/chart/chart-theme.ts';
import { mapOption, type MapRow } from '../../components/chart/map-option.ts';
import { Download, NoData, Panel } from '../../components/chart/panel.tsx';
import { ValuesTable } from '../../components/chart/values-table.tsx';
import { WorldChart } from '../../components/chart/world-chart.tsx';
import { countryName } from '../../lib/countries.ts';
import { byteOrderMark, csvLine } from '../../lib/csv.ts';
import { percent, time } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { saveBlob, saveFile } from '../../lib/save-file.ts';
import { tokens } from '../../theme/tokens.ts';
import { CountryCredit } from './top-list.tsx';
import { valueName } from './top-values.ts';

/** Countries in the text alternative. */
const MAX_SPOKEN = 5;

interface CountryMapProps {
  title: string;
  /** Largest first. */
  rows: readonly MapRow[];
  /** The sum of all countries. */
  total: number;
  /** Must be stable. */
  figureOf: (value: number) => string;
  valueTitle: string;
  /** Colours of attacks. */
  isBad?: boolean;
  countrySource: CountrySource | undefined;
  tools?: ReactNode;
  pathOf?: ((code: string) => string) | undefined;
}

/** A map of values by country, which are also a table and files. */
export function CountryMap({
  title,
  rows,
  total,
  figureOf,
  valueTitle,
  isBad = false,
  countrySource,
  tools,
  pathOf,
}: CountryMapProps) {
  const t = useT();
  const language = useLanguage();
  const navigate = useNavigate();
  const mode: Mode = useComputedColorScheme('light', { getInitialValueInEffect: false });
  const [chart, setChart] = useState<EChartsType | null>(null);
  const option = useCallback(
    (now: Mode, projection: object) =>
      mapOption(rows, { isBad }, { nameOf: (code) => countryName(code, language), figureOf }, projection, now),
    [rows, isBad, language, figureOf],
  );
  const known = new Set(rows.map(({ code }) => code));
  const named = rows.map(({ code, value }) => ({
    key: code,
    cells: [valueName('country', code, language), figureOf(value), total > 0 ? percent(value / total) : ''],
  }));
  const fileName = () => `${title} ${time(new Date())}`;
  const heads = [t('statistics.tops.country'), valueTitle];
  const csv = () => {
    const lines = rows.map(({ code, value }) => csvLine([valueName('country', code, language), String(value)]));
    saveFile(`${fileName()}.csv`, [byteOrderMark, csvLine(heads), ...lines], 'text/csv');
  };
  const png = () => {
    const canvas = chart?.renderToCanvas({ pixelRatio: 2, backgroundColor: tokens[mode].surface });
    canvas?.toBlob((blob) => blob && saveBlob(`${fileName()}.png`, blob));
  };
  const summary = named.slice(0, MAX_SPOKEN).map(({ cells: [name, value] }) => `${name} ${value}`);
  return (
    <Panel
      title={title}
      tools={
        <>
          {tools}
          {rows.length > 0 && <Download of={title} csv={csv} png={png} />}
        </>
      }
    >
      {rows.length === 0 ? (
        <NoData explained />
      ) : (
        <>
          <WorldChart
            option={option}
            summary={`${title}${t('common.colon')}${summary.join(t('common.comma'))}`}
            onChart={setChart}
            onPick={pathOf && ((code) => known.has(code) && void navigate(pathOf(code)))}
          />
          <ValuesTable title={title} heads={[...heads, '%']} rows={named} />
          <CountryCredit source={countrySource} />
        </>
      )}
    </Panel>
  );
}
