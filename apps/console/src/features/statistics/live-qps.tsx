import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { useMemo } from 'react';
import { newest } from '../../components/chart/figure.ts';
import { Loaded, Note } from '../../components/chart/panel.tsx';
import type { Drawing } from '../../components/chart/series-option.ts';
import { SeriesPanel } from '../../components/chart/series-panel.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { withNewSteps } from './new-steps.ts';

const POLL_MS = 60_000;

/** Requests per second of the last six hours. Later polls read only the steps since the first response. */
export function LiveQps({ siteIDs }: { siteIDs: string[] | undefined }) {
  const t = useT();
  const sites = siteIDs === undefined ? {} : { siteIDs };
  const whole = useEndpoint(statistics.qps, { body: sites });
  // The step before the current one may still get late lines.
  const from = whole.data?.times.at(-2);
  const isKnown = from !== undefined && !whole.refreshing;
  const added = useEndpoint(
    statistics.qps,
    { body: { ...sites, ...(from !== undefined && { from }) } },
    { pollMs: POLL_MS, enabled: isKnown },
  );
  const newSteps = isKnown && !added.refreshing ? added.data : undefined;
  const drawing = useMemo((): Drawing | undefined => {
    if (!whole.data) return undefined;
    const { times, stepSeconds, values } = withNewSteps(whole.data, newSteps);
    const lines = [{ name: 'requests', label: t('securityAnalysis.liveRate'), values }];
    return { times, stepSeconds, unit: 'count', isStacked: false, lines, previous: null, isUnfinished: true };
  }, [whole.data, newSteps, t]);
  return (
    <Loaded result={whole}>
      {() =>
        drawing && (
          <SeriesPanel
            title={t('securityAnalysis.liveRate')}
            drawing={drawing}
            figureOf={newest}
            figureTitle={t('statistics.newest')}
            note={
              <Note>
                <StatusMark tone={added.stale ? 'off' : 'ok'} />
                {t('securityAnalysis.liveWhen')}
              </Note>
            }
          />
        )
      }
    </Loaded>
  );
}
