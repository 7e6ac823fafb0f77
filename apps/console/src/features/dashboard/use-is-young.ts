import { useChart } from '../../components/chart/chart-panel.tsx';
import type { DashboardState } from './use-dashboard.ts';

/** The last steps of a day that make two hours. */
const YOUNG_STEPS = 8;

/** All figures are from the last two hours, as on a new installation. Null until that is known. */
export function useIsYoung({ range, site }: DashboardState): boolean | null {
  const { data, error } = useChart('bandwidth', range, site);
  if (data === undefined && !error) return null;
  const values = data?.series[0]?.values ?? [];
  const first = values.findIndex((value) => value !== null);
  return range === '24h' && first !== -1 && first >= values.length - YOUNG_STEPS;
}
