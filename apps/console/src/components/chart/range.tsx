import type { ChartRange } from '@edgeloom/contract/charts/charts.ts';
import { SegmentedControl } from '@mantine/core';
import { useSearchParams } from 'react-router-dom';
import { useT } from '../../lib/i18n.ts';

const ranges: readonly ChartRange[] = ['24h', '30d'];

/** The page's chart range, stored in the URL. */
export function useRange(): ChartRange {
  const [search] = useSearchParams();
  return ranges.find((range) => range === search.get('range')) ?? '24h';
}

export function RangeControl() {
  const t = useT();
  const range = useRange();
  const [, setSearch] = useSearchParams();
  return (
    <SegmentedControl
      aria-label={t('charts.range')}
      data={ranges.map((value) => ({ value, label: t(`charts.ranges.${value}`) }))}
      value={range}
      onChange={(value) =>
        setSearch((before) => {
          const next = new URLSearchParams(before);
          next.set('range', value);
          return next;
        })
      }
    />
  );
}
