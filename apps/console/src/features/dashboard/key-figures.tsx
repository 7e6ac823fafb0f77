import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { useChart } from '../../components/chart/chart-panel.tsx';
import { Loaded } from '../../components/chart/panel.tsx';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { Cards } from '../statistics/cards.tsx';
import classes from './dashboard.module.css';
import type { DashboardState } from './use-dashboard.ts';

const POLL_MS = 60_000;
/** Until the first figures arrive. */
const FIRST_POLL_MS = 10_000;

export const useCards = (query: DashboardState['query']) =>
  useEndpoint(
    statistics.cards,
    { body: query },
    { poll: (figures) => (figures?.data.every(({ value }) => value === null) ? FIRST_POLL_MS : POLL_MS) },
  );

/** Traffic, requests, hit rate, addresses and bandwidth, each against the period before. */
export function KeyFigures({ state: { range, site, query } }: { state: DashboardState }) {
  const cards = useCards(query);
  const valuesOf = (figures: ReturnType<typeof useChart>) => figures.data?.series[0]?.values ?? [];
  const sparks = {
    traffic: valuesOf(useChart('traffic', range, site)),
    requests: valuesOf(useChart('requests', range, site)),
    hitRate: valuesOf(useChart('cache', range, site)),
    bandwidth95: valuesOf(useChart('bandwidth', range, site)),
  };
  return (
    <div className={classes['cards']}>
      <Loaded result={cards}>{(figures) => <Cards figures={figures} sparks={sparks} />}</Loaded>
    </div>
  );
}
