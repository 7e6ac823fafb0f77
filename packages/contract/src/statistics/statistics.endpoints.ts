import { onSites, post } from '../endpoint.ts';
import { Cards, Qps, QpsQuery, Rank, RankQuery, SeriesQuery, StatisticsQuery, TimeSeries, Top, TopQuery } from './statistics.ts';

const can = 'statistics:read';
export const statistics = onSites('statistics', {
  cards:      post('statistics/info', { can, body: StatisticsQuery, reply: Cards }),
  rank:       post('statistics/list', { can, body: RankQuery, reply: Rank }),
  timeSeries: post('statistics/timeSeries', { can, body: SeriesQuery, reply: TimeSeries }),
  top:        post('statistics/top', { can, body: TopQuery, reply: Top }),
  export:     post('statistics/list/export', { can, body: RankQuery, answers: 'text/csv' }),
  qps:        post('statistics/qps', { can, body: QpsQuery, reply: Qps }),
});
