import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import type { TimeInterval } from '@edgeloom/contract/statistics/statistics.ts';
import { useMemo } from 'react';
import { newest } from '../../components/chart/time-option.ts';
import { Page } from '../../components/page/page.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useLogsPath } from './logs-path.ts';
import { Loaded } from './panel.tsx';
import { PeriodText } from './period-text.tsx';
import { RangeControl, StepControl } from './range-control.tsx';
import { Selection } from './selection.tsx';
import { SeriesPanel } from './series-panel.tsx';
import { sumsOf, type Drawing } from './series-option.ts';
import { TopList } from './top-list.tsx';
import { pollOf, useStatistics, type Statistics } from './use-statistics.ts';
import { LiveRequests } from './live-requests.tsx';
import classes from './statistics.module.css';

const offered: readonly TimeInterval[] = ['oneHour', 'sixHours', 'oneDay', 'sevenDays', 'custom'];
/** A stable object, as it is part of what the hook remembers. */
const options = { offered, fallback: 'sixHours' } as const;

/** Passed and refused requests, with causes and sources. */
export function SecurityAnalysisPage() {
  const state = useStatistics(options);
  const logsOf = useLogsPath(state);
  const topProps = { query: state.query, sortBy: 'requests', top: 10, pollMs: pollOf(state.period), logsOf } as const;
  return (
    <Page title="securityAnalysis.title" actions={<Selection state={state} />}>
      <div className={classes['toolbar']}>
        <RangeControl state={state} />
        <StepControl state={state} />
        <PeriodText state={state} />
      </div>
      <div className={classes['main']}>
        <Outcomes state={state} />
        <TopList kind="blacklist" refused {...topProps} />
      </div>
      <div className={classes['main']}>
        <LiveRequests siteIDs={state.sites} />
        <TopList kind="address" {...topProps} />
      </div>
      <div className={classes['columns']}>
        <TopList kind="url" {...topProps} />
        <TopList kind="country" {...topProps} />
        <TopList kind="referer" {...topProps} />
      </div>
    </Page>
  );
}

/** Requests per second that were passed, and that the nodes refused with a status of 9xx. */
function Outcomes({ state }: { state: Statistics }) {
  const t = useT();
  const pollMs = pollOf(state.period);
  const { query, reportInterval, zoom } = state;
  const result = useEndpoint(
    statistics.timeSeries,
    { body: { ...query, types: [12], reportInterval } },
    pollMs === undefined ? {} : { pollMs },
  );
  const drawing = useMemo((): Drawing | null => {
    if (!result.data) return null;
    const { times, stepSeconds, series } = result.data;
    const perSecond = (values: readonly (number | null)[]) =>
      values.map((value) => (value === null ? null : value / stepSeconds));
    const sumOf = (isRefused: boolean) =>
      perSecond(
        sumsOf(
          series.filter(({ name }) => (name === '9xx') === isRefused),
          times.length,
        ),
      );
    return {
      times,
      stepSeconds,
      unit: 'count',
      isStacked: true,
      lines: [
        { name: 'passed', label: t('securityAnalysis.passed'), values: sumOf(false) },
        { name: 'refused', label: t('securityAnalysis.refused'), values: sumOf(true) },
      ],
      previous: null,
    };
  }, [result.data, t]);
  return (
    <div className={classes['place']}>
      <Loaded result={result}>
        {() =>
          drawing && (
            <SeriesPanel
              title={t('securityAnalysis.outcomes')}
              drawing={drawing}
              figureOf={newest}
              figureTitle={t('statistics.newest')}
              onZoom={zoom}
              tall
            />
          )
        }
      </Loaded>
    </div>
  );
}
