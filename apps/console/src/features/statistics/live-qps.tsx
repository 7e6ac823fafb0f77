import type { Received } from '@edgeloom/contract/endpoint.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { useMemo } from 'react';
import { newest } from '../../components/chart/figure.ts';
import { Loaded, Note } from '../../components/chart/panel.tsx';
import type { Drawing } from '../../components/chart/series-option.ts';
import { SeriesPanel } from '../../components/chart/series-panel.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { call } from '../../lib/api.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import type { Statistics } from './use-statistics.ts';
import { startOfNewSteps, withNewSteps } from './new-steps.ts';

const POLL_MS = 60_000;

type Steps = Received<typeof statistics.qps>;
/** All sites, unless narrowed. */
type LiveQpsProps = Pick<Statistics['query'], 'siteIDs' | 'noSite'>;

/** Reads six hours first, and then the steps since the last response. */
async function readSteps(
  sites: LiveQpsProps,
  known: { data: Steps; at: number } | undefined,
  signal: AbortSignal,
): Promise<Steps> {
  const from = known && startOfNewSteps(known.data, Date.now() - known.at);
  const found = await call(statistics.qps, { body: { ...sites, ...(from !== undefined && { from }) } }, { signal });
  return known && from !== undefined ? withNewSteps(known.data, found) : found;
}

/** Requests per second of the last six hours. */
export function LiveQps(sites: LiveQpsProps) {
  const t = useT();
  const result = useEndpoint(
    statistics.qps,
    { body: sites },
    { pollMs: POLL_MS, read: (known, signal) => readSteps(sites, known, signal) },
  );
  const drawing = useMemo((): Drawing | undefined => {
    if (!result.data) return undefined;
    const { times, stepSeconds, values } = result.data;
    const lines = [{ name: 'requests', label: t('securityAnalysis.liveRate'), values }];
    return { times, stepSeconds, unit: 'count', isStacked: false, lines, previous: null, isUnfinished: true };
  }, [result.data, t]);
  return (
    <Loaded result={result}>
      {() =>
        drawing && (
          <SeriesPanel
            title={t('securityAnalysis.liveRate')}
            drawing={drawing}
            figureOf={newest}
            figureTitle={t('statistics.newest')}
            note={
              <Note>
                <StatusMark tone={result.stale ? 'off' : 'ok'} />
                {t('securityAnalysis.liveWhen')}
              </Note>
            }
          />
        )
      }
    </Loaded>
  );
}
