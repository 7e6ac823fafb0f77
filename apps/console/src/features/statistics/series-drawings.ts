import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import type { Drawing } from '../../components/chart/series-option.ts';
import { shifted, sumsOf } from '../../components/chart/series-math.ts';
import type { useT } from '../../lib/i18n.ts';
import type { Period } from './period.ts';
import { pollOf } from './use-statistics.ts';

export type Series = Received<typeof statistics.timeSeries>;

/** Drawings by panel: each has the series of these names. */
const panels = {
  bandwidth: { names: ['bandwidth'], unit: 'bit' },
  traffic: { names: ['traffic'], unit: 'byte' },
  status: { names: ['2xx', '3xx', '4xx', '5xx', '9xx'], unit: 'count' },
  protocol: { names: ['ipv4', 'ipv6'], unit: 'count' },
} as const;
export type PanelName = keyof typeof panels;

function labelOf(name: string, t: ReturnType<typeof useT>): string {
  if (name === 'ipv4') return 'IPv4';
  if (name === 'ipv6') return 'IPv6';
  return name === 'bandwidth' || name === 'traffic' ? t(`statistics.series.${name}`) : name;
}

const DAY_SECONDS = 86_400;
type Steps = Pick<Series, 'stepSeconds' | 'to'> & { times: readonly string[] };

/**
 * The last step of figures that arrived at a time is the current one, or a custom period ends within it. The clock
 * counts only for custom periods.
 */
export const isUnfinished = (period: Period, series: Steps, at: number) =>
  pollOf(period) !== undefined || Date.parse(series.to) > at || isLastShorter(series);

/** Days may have 23 hours. They are always whole. */
function isLastShorter({ times, stepSeconds, to }: Steps): boolean {
  const last = times.at(-1);
  return last !== undefined && stepSeconds !== DAY_SECONDS && Date.parse(last) + stepSeconds * 1000 > Date.parse(to);
}

interface DrawingOptions {
  isUnfinished: boolean;
  /** The period before, and how far back it lies. */
  before?: { series: Series; shiftMs: number } | undefined;
}

/** The lines of one panel. */
export function drawingOf(
  { times, stepSeconds, series }: Series,
  panel: PanelName,
  t: ReturnType<typeof useT>,
  { before, ...options }: DrawingOptions,
): Drawing {
  const { names, unit } = panels[panel];
  const linesOf = (all: Series['series']) =>
    names.flatMap((name) => {
      const found = all.find((one) => one.name === name);
      return found ? [{ name, label: labelOf(name, t), values: found.values }] : [];
    });
  return {
    times,
    stepSeconds,
    unit,
    lines: linesOf(series),
    isStacked: names.length > 1,
    previous: before
      ? {
          label: t('statistics.before'),
          values: shifted(times, before.shiftMs, {
            times: before.series.times,
            stepSeconds: before.series.stepSeconds,
            values: sumsOf(linesOf(before.series.series), before.series.times.length),
          }),
        }
      : null,
    ...options,
  };
}
