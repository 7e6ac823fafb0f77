import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { useMemo } from 'react';
import { newest } from '../../components/chart/time-option.ts';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { Loaded } from './panel.tsx';
import { SeriesPanel } from './series-panel.tsx';
import type { Drawing } from './series-option.ts';
import classes from './statistics.module.css';

const POLL_MS = 300_000;

/** Requests per second of the last six hours, in steps of five minutes. */
export function LiveRequests({ siteIDs }: { siteIDs: readonly string[] }) {
  const t = useT();
  const body = siteIDs.length > 0 ? { siteIDs: [...siteIDs] } : {};
  const result = useEndpoint(statistics.qps, { body }, { pollMs: POLL_MS });
  const drawing = useMemo(
    (): Drawing | null =>
      result.data
        ? {
            times: result.data.times,
            stepSeconds: result.data.stepSeconds,
            unit: 'count',
            isStacked: false,
            lines: [{ name: 'live', label: t('securityAnalysis.perSecond'), values: result.data.values }],
            previous: null,
          }
        : null,
    [result.data, t],
  );
  return (
    <div className={classes['place']}>
      <Loaded result={result}>
        {() =>
          drawing && (
            <SeriesPanel
              title={t('securityAnalysis.live')}
              drawing={drawing}
              figureOf={newest}
              figureTitle={t('statistics.newest')}
              note={
                <span className={classes['live']}>
                  <StatusMark tone={result.stale ? 'off' : 'ok'} />
                  {t('securityAnalysis.every')}
                </span>
              }
            />
          )
        }
      </Loaded>
    </div>
  );
}
