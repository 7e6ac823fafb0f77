import type { StatisticsFilters } from '@edgeloom/contract/statistics/statistics.ts';

/** Filters of requests that nodes refused, for any cause or by the WAF. */
export const refusedBy = (cause: 'any' | 'waf', filters: StatisticsFilters = {}): StatisticsFilters => ({
  ...filters,
  blocked: true,
  ...(cause === 'waf' && { blacklist: ['waf'] }),
});
