import { nodeStatistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { useMemo } from 'react';
import { newest } from '../../components/chart/figure.ts';
import { Loaded, Note } from '../../components/chart/panel.tsx';
import type { Drawing } from '../../components/chart/series-option.ts';
import { SeriesPanel } from '../../components/chart/series-panel.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { isUnfinished } from './series-drawings.ts';
import { pollOf, type Statistics } from './use-statistics.ts';

/** Packets per second that the kernels of the operator's nodes dropped before nginx, by cause. */
export function KernelDrops({ state }: { state: Statistics }) {
  const t = useT();
  const { period, reportInterval, query } = state;
  const { timeZone, timeInterval, startTime, endTime } = query;
  const pollMs = pollOf(period);
  const result = useEndpoint(
    nodeStatistics.kernelDrops,
    {
      body: {
        timeZone,
        timeInterval,
        ...(startTime !== undefined && { startTime }),
        ...(endTime !== undefined && { endTime }),
        reportInterval,
      },
    },
    pollMs === undefined ? {} : { pollMs },
  );
  const drawing = useMemo((): Drawing | null => {
    if (!result.data) return null;
    const { times, stepSeconds, series } = result.data;
    return {
      times,
      stepSeconds,
      unit: 'count',
      isStacked: true,
      lines: series.map(({ cause, packets }) => ({
        name: cause,
        label: t(`dropped.causes.${cause}`),
        values: packets,
      })),
      previous: null,
      isUnfinished: isUnfinished(period, result.data, result.at),
    };
  }, [result.data, result.at, period, t]);
  return (
    <Loaded result={result}>
      {() =>
        drawing && (
          <SeriesPanel
            title={t('layer4.kernelDrops')}
            drawing={drawing}
            figureOf={newest}
            figureTitle={t('statistics.newest')}
            onZoom={state.zoom}
            note={<Note>{t('layer4.allNodes')}</Note>}
          />
        )
      }
    </Loaded>
  );
}
