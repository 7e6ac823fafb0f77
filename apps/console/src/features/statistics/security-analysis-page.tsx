import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { seriesTypes, type TimeInterval } from '@edgeloom/contract/statistics/statistics.ts';
import { SegmentedControl } from '@mantine/core';
import { useMemo } from 'react';
import { newest } from '../../components/chart/figure.ts';
import { Page } from '../../components/page/page.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { BlockAddress } from './block-address.tsx';
import { FilterChips } from './filter-chips.tsx';
import { LiveQps } from './live-qps.tsx';
import { useLogsPath } from './logs-path.ts';
import { Loaded, Note } from '../../components/chart/panel.tsx';
import { isShort, shortened, type Period } from './period.ts';
import { PeriodText } from './period-text.tsx';
import { refusedBy } from './refused.ts';
import { RangeControl, StepControl } from './range-control.tsx';
import { Selection } from './selection.tsx';
import { perSecond } from '../../components/chart/series-math.ts';
import { SeriesPanel } from '../../components/chart/series-panel.tsx';
import type { Drawing } from '../../components/chart/series-option.ts';
import { isUnfinished } from './series-drawings.ts';
import { TopList } from './top-list.tsx';
import { pollOf, useStatistics, type Statistics } from './use-statistics.ts';
import { WorldMap } from './world-map.tsx';
import type { TopKind } from './top-values.ts';
import classes from './statistics.module.css';

const offered: readonly TimeInterval[] = ['oneHour', 'sixHours', 'oneDay', 'sevenDays', 'custom'];
/** A stable object, as it is part of what the hook remembers. */
const options = { offered, fallback: 'sixHours' } as const;

/** Passed and refused requests, with causes and sources. */
export function SecurityAnalysisPage() {
  const t = useT();
  const state = useStatistics(options);
  const { period, query, filters } = state;
  const outcomes = useOutcomes(state);
  const pathOf = (kind: TopKind, value: string) =>
    state.withFilter(kind, filters[kind]?.includes(value) === true ? null : value);
  const topProps = { sortBy: 'requests', top: 10, pollMs: pollOf(period), pathOf, logsOf: useLogsPath(state) } as const;
  const refused = useMemo(() => refusedQuery(query, period, filters), [query, period, filters]);
  const isAll = state.search.get('map') === 'all';
  // The live rate is of whole sites.
  const isOfSites = !state.isFiltered && state.domains.length === 0 && state.tags.length === 0;
  const allProps = { ...topProps, query, shareOf: 'all' } as const;
  const refusedProps = { ...topProps, query: refused, refused: true, shareOf: 'blocked' } as const;
  return (
    <Page title="securityAnalysis.title" actions={<Selection state={state} />}>
      <div className={classes['toolbar']}>
        <RangeControl state={state} />
        <StepControl state={state} />
        <PeriodText state={state} result={outcomes} />
      </div>
      <FilterChips state={state} />
      <div className={classes['main']}>
        <Outcomes state={state} result={outcomes} />
        <TopList kind="blacklist" refused {...allProps} />
      </div>
      {isOfSites && (
        <div className={classes['live']}>
          <LiveQps {...(query.siteIDs && { siteIDs: query.siteIDs })} {...(query.noSite && { noSite: query.noSite })} />
        </div>
      )}
      <div className={classes['main']} data-wide-list>
        <div className={classes['place']}>
          <WorldMap
            title={t(isAll ? 'securityAnalysis.allSources' : 'securityAnalysis.sources')}
            query={isAll ? query : refused}
            sortBy="requests"
            pollMs={topProps.pollMs}
            isBad={!isAll}
            pathOf={pathOf}
            tools={
              <SegmentedControl
                size="xs"
                aria-label={t('securityAnalysis.show')}
                data={[
                  { value: 'refused', label: t('securityAnalysis.blocked') },
                  { value: 'all', label: t('securityAnalysis.all') },
                ]}
                value={isAll ? 'all' : 'refused'}
                onChange={(value) => state.change({ map: value === 'all' ? 'all' : null }, true)}
              />
            }
          />
        </div>
        <TopList
          kind="address"
          title={t('securityAnalysis.addresses')}
          renderTool={(address) => <BlockAddress address={address} query={refused} />}
          {...refusedProps}
        />
      </div>
      <div className={classes['columns']} data-four>
        <TopList kind="wafRule" refused {...allProps} />
        <TopList kind="wafMonitored" {...allProps} />
        <TopList kind="url" title={t('securityAnalysis.urls')} {...refusedProps} />
        <TopList kind="country" title={t('securityAnalysis.countries')} {...refusedProps} />
      </div>
      {!isShort(period.interval) && <p className={classes['periodText']}>{t('securityAnalysis.newestDay')}</p>}
    </Page>
  );
}

/** Filters read at most a day: of a longer period its newest one. */
function refusedQuery(query: Statistics['query'], period: Period, filters: Statistics['filters']) {
  const { interval, startTime } = shortened(period);
  return {
    ...query,
    timeInterval: interval,
    ...(startTime !== undefined && { startTime }),
    filters: refusedBy('any', filters),
  };
}

/** With the bandwidth, for the seconds of the current step that have passed. */
const outcomeTypes = [seriesTypes.outcome, seriesTypes.bandwidthAndTraffic];

function useOutcomes({ query, period, reportInterval }: Statistics) {
  const pollMs = pollOf(period);
  return useEndpoint(
    statistics.timeSeries,
    { body: { ...query, types: outcomeTypes, reportInterval } },
    pollMs === undefined ? {} : { pollMs },
  );
}

/** Requests per second that were passed, and that the nodes refused. */
function Outcomes({ state, result }: { state: Statistics; result: ReturnType<typeof useOutcomes> }) {
  const t = useT();
  const { period, zoom } = state;
  const pollMs = pollOf(period);
  const drawing = useMemo((): Drawing | null => {
    if (!result.data) return null;
    const { times, stepSeconds, series } = result.data;
    const countsOf = (name: string) => series.find((one) => one.name === name)?.values ?? [];
    const rate = { stepSeconds, traffic: countsOf('traffic'), bandwidth: countsOf('bandwidth') };
    const valuesOf = (name: string) => perSecond(countsOf(name), rate);
    return {
      times,
      stepSeconds,
      unit: 'count',
      isStacked: true,
      lines: [
        { name: 'passed', label: t('securityAnalysis.passed'), values: valuesOf('passed') },
        { name: 'refused', label: t('securityAnalysis.refused'), values: valuesOf('blocked') },
      ],
      previous: null,
      isUnfinished: isUnfinished(period, result.data, result.at),
    };
  }, [result.data, result.at, period, t]);
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
              note={
                pollMs !== undefined && (
                  <Note>
                    <StatusMark tone={result.stale ? 'off' : 'ok'} />
                    {t('securityAnalysis.live')}
                  </Note>
                )
              }
            />
          )
        }
      </Loaded>
    </div>
  );
}
