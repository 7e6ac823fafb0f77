import { ChartRange } from '@edgeloom/contract/charts/charts.ts';
import { SegmentedControl } from '@mantine/core';
import { useSearchParams } from 'react-router-dom';
import { useT } from '../../lib/i18n.ts';

/** How far back the charts of a page go; a link restores it. */
export function useRange(): ChartRange {
  const [search] = useSearchParams();
  return ChartRange.catch('24h').parse(search.get('range'));
}

export function RangeControl() {
  const t = useT();
  const range = useRange();
  const [, setSearch] = useSearchParams();
  return (
    <SegmentedControl
      aria-label={t('charts.range')}
      data={ChartRange.options.map((value) => ({ value, label: t(`charts.ranges.${value}`) }))}
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
