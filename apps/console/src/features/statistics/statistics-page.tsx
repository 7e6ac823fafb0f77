import { NativeSelect, SegmentedControl, Switch } from '@mantine/core';
import { Page } from '../../components/page/page.tsx';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { FilterChips } from './filter-chips.tsx';
import { Overview, useCards } from './overview.tsx';
import { PeriodText } from './period-text.tsx';
import { RangeControl, StepControl } from './range-control.tsx';
import { RankTable } from './rank-table.tsx';
import { Selection } from './selection.tsx';
import { TopList } from './top-list.tsx';
import { useLogsPath } from './logs-path.ts';
import type { TopKind } from './top-values.ts';
import { pollOf, useStatistics } from './use-statistics.ts';
import { WorldMap } from './world-map.tsx';
import classes from './statistics.module.css';

const tops: readonly TopKind[] = [
  'status',
  'address',
  'referer',
  'isp',
  'province',
  'method',
  'httpVersion',
  'blacklist',
  'wafRule',
];
const isRefusal = (kind: TopKind) => kind === 'blacklist' || kind === 'wafRule';
const topSizes = [10, 20, 50, 100] as const;

export function StatisticsPage() {
  const t = useT();
  const state = useStatistics();
  const cards = useCards(state);
  const { search, query, change } = state;
  const sortBy = search.get('by') === 'bytes' ? 'bytes' : 'requests';
  const top = topSizes.find((size) => String(size) === search.get('top')) ?? 10;
  const isCompared = search.get('compare') === '1';
  const pathOf = (kind: TopKind, value: string) =>
    state.withFilter(kind, state.filters[kind]?.includes(value) === true ? null : value);
  const logsOf = useLogsPath(state);
  const topProps = { query, sortBy, top, pollMs: pollOf(state.period), pathOf, logsOf } as const;
  return (
    <Page title="statistics.title" actions={<Selection state={state} />}>
      <div className={classes['toolbar']}>
        <RangeControl state={state} />
        <StepControl state={state} />
        <Switch
          label={t('statistics.compare')}
          checked={isCompared}
          onChange={(event) => change({ compare: event.currentTarget.checked ? '1' : null }, true)}
        />
        <PeriodText state={state} result={cards} />
      </div>
      <FilterChips state={state} />
      <Overview state={state} isCompared={isCompared}>
        <TopList kind="url" {...topProps} />
      </Overview>
      <div className={classes['main']}>
        <WorldMap title={t('statistics.map')} {...topProps} />
        <TopList kind="country" {...topProps} />
      </div>
      <div className={classes['subhead']}>
        <h2>{t('statistics.topsTitle')}</h2>
        <SegmentedControl
          aria-label={t('statistics.by')}
          size="xs"
          data={[
            { value: 'requests', label: t('statistics.fields.requests') },
            { value: 'bytes', label: t('statistics.fields.traffic') },
          ]}
          value={sortBy}
          onChange={(value) => change({ by: value === 'bytes' ? 'bytes' : null }, true)}
        />
        <NativeSelect
          aria-label={t('statistics.topSize')}
          size="xs"
          className={classes['step'] ?? ''}
          data={topSizes.map((size) => ({ value: String(size), label: t('statistics.topOf', { rows: count(size) }) }))}
          value={String(top)}
          onChange={({ currentTarget: { value } }) => change({ top: value === '10' ? null : value }, true)}
        />
      </div>
      <div className={classes['columns']}>
        {tops.map((kind) => (
          <TopList key={kind} kind={kind} refused={isRefusal(kind)} {...topProps} />
        ))}
      </div>
      <div className={classes['rank']}>
        <RankTable state={state} pollMs={topProps.pollMs} />
      </div>
    </Page>
  );
}
