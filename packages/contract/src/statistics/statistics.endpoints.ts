import { get, onClient, onSites, post } from '../endpoint.ts';
import {
  KernelDrops, KernelDropsQuery, Layer4CountrySeries, Layer4CountrySeriesQuery, Layer4OutcomeSeries, Layer4Query, Layer4SeriesQuery, Layer4Sums, Layer4Top, Layer4TopQuery,
} from './layer4.ts';
import {
  Cards, HourlyBandwidth, Qps, QpsQuery, Rank, RankExportQuery, RankQuery, RuleMatches, SeriesQuery, SiteBandwidthQuery, StatisticsQuery, TimeSeries, Top,
  TopQuery,
} from './statistics.ts';

const can = 'statistics:read';
export const statistics = onSites('statistics', {
  cards:      post('statistics/info', { can, body: StatisticsQuery, reply: Cards }),
  rank:       post('statistics/list', { can, body: RankQuery, reply: Rank }),
  timeSeries: post('statistics/timeSeries', { can, body: SeriesQuery, reply: TimeSeries }),
  top:        post('statistics/top', { can, body: TopQuery, reply: Top }),
  export:     post('statistics/list/export', { can, body: RankExportQuery, answers: 'text/csv' }),
  qps:        post('statistics/qps', { can, body: QpsQuery, reply: Qps }),
  siteBandwidth: post('statistics/sites/bandwidth', { can, body: SiteBandwidthQuery, reply: HourlyBandwidth }),
  rules:      get('site/:siteId/statistics/rules', { can, reply: RuleMatches }),
  layer4Outcomes:    post('statistics/network/outcomes/avgBitRate', { can, body: Layer4SeriesQuery, reply: Layer4OutcomeSeries }),
  layer4Sums:        post('statistics/network/outcomes/sumBits', { can, body: Layer4Query, reply: Layer4Sums }),
  layer4Countries:   post('statistics/network/countries/avgBitRate', { can, body: Layer4CountrySeriesQuery, reply: Layer4CountrySeries }),
  layer4TopCountries: post('statistics/network/countries/tops', { can, body: Layer4TopQuery, reply: Layer4Top }),
});

export const nodeStatistics = onClient('nodeStatistics', {
  bandwidth: get('statistics/nodes/bandwidth', { can, reply: HourlyBandwidth }),
  kernelDrops: post('statistics/network/kernelDrops', { can, body: KernelDropsQuery, reply: KernelDrops }),
});
