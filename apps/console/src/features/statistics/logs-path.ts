import { LONGEST_DAY_MS } from '@edgeloom/contract/common/longest-day.ts';
import { logs } from '@edgeloom/contract/logs/logs.calls.ts';
import { to as inConsole } from '../../lib/family.ts';
import { useCan } from '../../lib/use-can.ts';
import { boundsOf } from './period.ts';
import type { TopKind } from './top-values.ts';
import type { Statistics } from './use-statistics.ts';

/** The log's filter of each kind of value that it can search for. */
const filters: Partial<Record<TopKind, string>> = {
  country: 'country',
  status: 'status',
  address: 'remoteIP',
  url: 'uri',
  referer: 'referer',
  method: 'method',
  blacklist: 'cause',
};

/** Paths of the access log with one value's requests of the shown period, its newest day if it is longer. */
export function useLogsPath({ period, now, sites, domains }: Statistics) {
  const can = useCan();
  if (!can(logs.access)) return null;
  return (kind: TopKind, value: string): string | null => {
    const filter = filters[kind];
    if (filter === undefined || value === '') return null;
    const { from, to } = boundsOf(period, now);
    const search = new URLSearchParams({
      from: new Date(Math.max(from, to - LONGEST_DAY_MS)).toISOString(),
      to: new Date(to).toISOString(),
      // The value begins with the host. The log's filter matches the path only.
      [filter]: kind === 'url' ? value.slice(value.indexOf('/')) : value,
    });
    for (const site of sites) search.append('siteIDs', site);
    for (const domain of domains) search.append('domains', domain);
    return `${inConsole('dataAnalysis/logger')}?${search}`;
  };
}
