// Filters by the values of tops, stored in the URL under the kind's name.
import type { StatisticsFilters } from '@edgeloom/contract/statistics/statistics.ts';

export type FilterKind = Exclude<keyof StatisticsFilters, 'blocked'>;

/** In the order of their chips. */
export const filterKinds = [
  'country',
  'province',
  'isp',
  'status',
  'blacklist',
  'wafRule',
  'wafMonitored',
  'url',
  'address',
  'referer',
  'method',
  'httpVersion',
  'protocol',
] as const satisfies readonly FilterKind[];

/** The API refuses longer lists and texts. */
const MAX_VALUES = 10;
const MAX_CHARACTERS = 512;
const isProtocol = (value: string) => value === 'ipv4' || value === 'ipv6';

export function filtersOf(search: URLSearchParams): StatisticsFilters {
  const filters: StatisticsFilters = {};
  for (const kind of filterKinds) {
    const most = kind === 'country' || kind === 'province' ? 64 : MAX_CHARACTERS;
    const values = [...new Set(search.getAll(kind))]
      .filter((value) => value !== '' && value.length <= most)
      .slice(0, MAX_VALUES);
    if (kind === 'protocol') {
      const known = values.filter(isProtocol);
      if (known.length > 0) filters.protocol = known;
    } else if (values.length > 0) filters[kind] = values;
  }
  return filters;
}
