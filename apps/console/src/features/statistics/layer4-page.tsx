import { nodeStatistics, statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { TimeInterval } from '@edgeloom/contract/statistics/statistics.ts';
import { SegmentedControl } from '@mantine/core';
import { useMemo } from 'react';
import { newest } from '../../components/chart/figure.ts';
import { Loaded, NoData, Panel } from '../../components/chart/panel.tsx';
import type { Drawing } from '../../components/chart/series-option.ts';
import { SeriesPanel } from '../../components/chart/series-panel.tsx';
import { Page } from '../../components/page/page.tsx';
import { countryName } from '../../lib/countries.ts';
import { bits, count, percent } from '../../lib/format.ts';
import { family } from '../../lib/family.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { parted } from './change.ts';
import { CountryMap } from './country-map.tsx';
import { KernelDrops } from './kernel-drops.tsx';
import { PeriodText } from './period-text.tsx';
import { RangeControl, StepControl } from './range-control.tsx';
import { Selection } from './selection.tsx';
import { isUnfinished } from './series-drawings.ts';
import { valueName } from './top-values.ts';
import { pollOf, useStatistics, type Statistics } from './use-statistics.ts';
import classes from './statistics.module.css';

const offered: readonly TimeInterval[] = ['oneHour', 'sixHours', 'oneDay', 'sevenDays', 'custom'];
/** A stable object, as it is part of what the hook remembers. */
const options = { offered, fallback: 'sixHours' } as const;
const MAX_COUNTRIES = 50;
const TOP = 5;

/** Bits as a volume rather than a rate. */
const volume = (value: number) => bits(value).replace('bps', 'b');

/** Layer-4 sessions: what forwards passed and what nodes dropped, over time and by country. */
export function Layer4Page() {
  const t = useT();
  const can = useCan();
  const state = useStatistics(options);
  const { query, search, change } = state;
  const outcome = search.get('outcome') === 'allowed' ? 'allowed' : 'dropped';
  const { timeZone, timeInterval, startTime, endTime, siteIDs, tags, noSite } = query;
  // Sessions have no domain and no HTTP values.
  const body = {
    timeZone,
    timeInterval,
    ...(startTime !== undefined && { startTime }),
    ...(endTime !== undefined && { endTime }),
    ...(siteIDs !== undefined && { siteIDs }),
    ...(tags !== undefined && { tags }),
    ...(noSite !== undefined && { noSite }),
  };
  // Kernels drop packets before these belong to a site.
  const hasKernelDrops =
    family === 'client' && can(nodeStatistics.kernelDrops) && siteIDs === undefined && tags === undefined;
  const polled = useMemo(() => {
    const pollMs = pollOf(state.period);
    return pollMs === undefined ? {} : { pollMs };
  }, [state.period]);
  const top = useEndpoint(statistics.layer4TopCountries, { body: { ...body, outcome, top: MAX_COUNTRIES } }, polled);
  return (
    <Page title="layer4.title" actions={<Selection state={state} hasDomains={false} />}>
      <div className={classes['toolbar']}>
        <RangeControl state={state} />
        <StepControl state={state} />
        <SegmentedControl
          aria-label={t('layer4.outcome')}
          data={(['dropped', 'allowed'] as const).map((value) => ({ value, label: t(`layer4.outcomes.${value}`) }))}
          value={outcome}
          onChange={(value) => change({ outcome: value === 'allowed' ? 'allowed' : null }, true)}
        />
        <PeriodText state={state} result={top} />
      </div>
      <Sums body={body} polled={polled} />
      <div className={classes['main']}>
        <Outcomes state={state} body={body} polled={polled} />
        <div className={classes['place']}>
          <Loaded result={top}>
            {({ data, total }) => <TopCountries rows={data.slice(0, TOP)} total={total.bits} outcome={outcome} />}
          </Loaded>
        </div>
      </div>
      <div className={classes['main']}>
        <div className={classes['place']}>
          <Loaded result={top}>
            {({ data, total, countrySource }) => (
              <CountryMap
                title={t(`layer4.map.${outcome}`)}
                rows={data.map(({ country, bits: value }) => ({ code: country, value }))}
                total={total.bits}
                countrySource={countrySource}
                figureOf={volume}
                valueTitle={t('layer4.bits')}
                isBad={outcome === 'dropped'}
              />
            )}
          </Loaded>
        </div>
        <Countries state={state} body={{ ...body, outcome }} polled={polled} />
      </div>
      {hasKernelDrops && (
        <div className={classes['live']}>
          <KernelDrops state={state} />
        </div>
      )}
    </Page>
  );
}

type Body = Omit<Statistics['query'], 'domains' | 'filters'> & { outcome?: 'allowed' | 'dropped' };
interface PartProps {
  body: Body;
  polled: { pollMs?: number };
}

/** Volume and sessions of each outcome. */
function Sums({ body, polled }: PartProps) {
  const t = useT();
  const result = useEndpoint(statistics.layer4Sums, { body }, polled);
  return (
    <div className={classes['cardsPlace']}>
      <Loaded result={result}>
        {({ data }) => (
          <dl className={classes['cards']} data-three>
            {data.map(({ outcome, bits: value, sessions }) => {
              const { number, unit } = parted(volume(value));
              return (
                <div key={outcome} className={classes['card']}>
                  <dt>{t(`layer4.outcomes.${outcome}`)}</dt>
                  <dd className={classes['value']}>
                    {number}
                    <small>{`\u00a0${unit}`}</small>
                  </dd>
                  <dd className={classes['change']}>
                    {t('layer4.sessions', { count: sessions, rows: count(sessions) })}
                  </dd>
                </div>
              );
            })}
          </dl>
        )}
      </Loaded>
    </div>
  );
}

type OutcomeSeries = Received<typeof statistics.layer4Outcomes>;
/** Names with the colours of passed and refused requests. */
const lineNames = { allowed: 'passed', dropped: 'refused', failed: 'failed' } as const;

function Outcomes({ state, body, polled }: PartProps & { state: Statistics }) {
  const t = useT();
  const result = useEndpoint(
    statistics.layer4Outcomes,
    { body: { ...body, reportInterval: state.reportInterval } },
    polled,
  );
  const drawing = useMemo(
    () =>
      result.data && {
        ...outcomeDrawing(result.data, t),
        isUnfinished: isUnfinished(state.period, result.data, result.at),
      },
    [result.data, result.at, state.period, t],
  );
  return (
    <div className={classes['place']}>
      <Loaded result={result}>
        {() =>
          drawing && (
            <SeriesPanel
              title={t('layer4.bandwidth')}
              drawing={drawing}
              figureOf={newest}
              figureTitle={t('statistics.newest')}
              onZoom={state.zoom}
              tall
            />
          )
        }
      </Loaded>
    </div>
  );
}

const outcomeDrawing = ({ times, stepSeconds, series }: OutcomeSeries, t: ReturnType<typeof useT>): Drawing => ({
  times,
  stepSeconds,
  unit: 'bit',
  isStacked: true,
  lines: series.map(({ outcome, values }) => ({
    name: lineNames[outcome],
    label: t(`layer4.outcomes.${outcome}`),
    values,
  })),
  previous: null,
});

function Countries({ state, body, polled }: { state: Statistics; body: Body; polled: PartProps['polled'] }) {
  const t = useT();
  const language = useLanguage();
  const result = useEndpoint(
    statistics.layer4Countries,
    { body: { ...body, top: TOP, reportInterval: state.reportInterval } },
    polled,
  );
  const drawing = useMemo((): Drawing | null => {
    if (!result.data) return null;
    const { times, stepSeconds, series } = result.data;
    return {
      times,
      stepSeconds,
      unit: 'bit',
      isStacked: false,
      lines: series.map(({ country, values }) => ({
        name: country,
        label: country === '' ? t('statistics.unknown') : countryName(country, language),
        values,
      })),
      previous: null,
      isUnfinished: isUnfinished(state.period, result.data, result.at),
    };
  }, [result.data, result.at, state.period, t, language]);
  return (
    <div className={classes['place']}>
      <Loaded result={result}>
        {() =>
          drawing && (
            <SeriesPanel
              title={t('layer4.countriesOverTime')}
              drawing={drawing}
              figureOf={newest}
              figureTitle={t('statistics.newest')}
              onZoom={state.zoom}
            />
          )
        }
      </Loaded>
    </div>
  );
}

interface TopCountriesProps {
  rows: Received<typeof statistics.layer4TopCountries>['data'];
  total: number;
  outcome: 'allowed' | 'dropped';
}

function TopCountries({ rows, total, outcome }: TopCountriesProps) {
  const t = useT();
  const language = useLanguage();
  const most = Math.max(1, ...rows.map(({ bits: value }) => value));
  return (
    <Panel title={t(`layer4.top.${outcome}`)}>
      {rows.length === 0 ? (
        <NoData />
      ) : (
        <ol className={classes['rows']} data-refused={outcome === 'dropped' || undefined}>
          {rows.map(({ country, bits: value }) => (
            <li key={country} className={classes['row']}>
              <i className={classes['bar']} style={{ width: `${(value / most) * 100}%` }} aria-hidden />
              <span className={classes['name']}>{valueName('country', country, language)}</span>
              <span className={classes['figure']}>{volume(value)}</span>
              <span className={classes['share']}>{total > 0 ? percent(value / total) : ''}</span>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}
