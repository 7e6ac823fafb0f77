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
  referer: 'referer',
  method: 'method',
  blacklist: 'cause',
};

/** The log's filters that find the requests of one value. Empty: it cannot search for them. */
export function filtersOf(kind: TopKind, value: string): [name: string, value: string][] {
  if (kind === 'url') {
    const [host = ''] = value.split('/', 1);
    const named: [string, string][] = [
      ['host', host],
      ['uri', value.slice(host.length)],
    ];
    return named.filter(([, part]) => part !== '');
  }
  const name = filters[kind];
  return name === undefined || value === '' ? [] : [[name, value]];
}

/** Paths of the access log with one value's requests of the shown period, its newest day if it is longer. */
export function useLogsPath({ period, now, sites, domains, noSite }: Statistics) {
  const can = useCan();
  if (!can(logs.access)) return null;
  return (kind: TopKind, value: string): string | null => {
    const chosen = filtersOf(kind, value);
    if (chosen.length === 0) return null;
    const { from, to } = boundsOf(period, now);
    const search = new URLSearchParams({
      from: new Date(Math.max(from, to - LONGEST_DAY_MS)).toISOString(),
      to: new Date(to).toISOString(),
    });
    for (const [name, text] of chosen) search.append(name, text);
    if (noSite) search.append('noSite', 'true');
    for (const site of sites) search.append('siteIDs', site);
    for (const domain of domains) search.append('domains', domain);
    return `${inConsole('dataAnalysis/logger')}?${search}`;
  };
}
