import { useSearchParams } from 'react-router-dom';
import { useRange } from '../../components/chart/range.tsx';
import { to as inConsole } from '../../lib/family.ts';
import { usePreferences } from '../../stores/preferences.ts';
import { instant } from '../statistics/instant.ts';
import type { TopKind } from '../statistics/top-values.ts';

const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Period and site of a dashboard, stored in the URL, and paths to the statistics of the same. */
export function useDashboard() {
  const range = useRange();
  const [search, setSearch] = useSearchParams();
  const site = search.get('site') ?? undefined;
  const timeZone = usePreferences((preferences) => preferences.timeZone) ?? ownZone;
  const statisticsOf = (more: Record<string, string>) => {
    const period = { range: range === '24h' ? 'oneDay' : 'thirtyDays' };
    return `${inConsole('dataAnalysis/statistics')}?${new URLSearchParams({ ...period, ...(site !== undefined && { site }), ...more })}`;
  };
  return {
    range,
    site,
    query: {
      timeZone,
      timeInterval: range === '24h' ? 'oneDay' : 'thirtyDays',
      ...(site !== undefined && { siteIDs: [site] }),
    } as const,
    setSite: (id: string | null) =>
      setSearch((before) => {
        const next = new URLSearchParams(before);
        next.delete('site');
        if (id !== null) next.set('site', id);
        return next;
      }),
    pathOf: (kind: TopKind, value: string) => statisticsOf({ [kind]: value }),
    zoomPath: (from: number, to: number) => statisticsOf({ range: 'custom', from: instant(from), to: instant(to) }),
  };
}
export type DashboardState = ReturnType<typeof useDashboard>;
