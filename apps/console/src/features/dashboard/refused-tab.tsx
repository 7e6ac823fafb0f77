import { TopList } from '../statistics/top-list.tsx';
import { refusedBy } from '../statistics/refused.ts';
import { useT } from '../../lib/i18n.ts';
import classes from './dashboard.module.css';
import type { DashboardState } from './use-dashboard.ts';

const POLL_MS = 60_000;
const kinds = ['address', 'url', 'country', 'isp', 'method'] as const;

/** Refused requests by cause or by WAF rule, and where they came from in the last 24 hours. */
export function RefusedTab({ state, kind }: { state: DashboardState; kind: 'blacklist' | 'waf' }) {
  const t = useT();
  const { query, pathOf } = state;
  const top = { sortBy: 'requests', top: 10, pollMs: POLL_MS, pathOf, refused: true } as const;
  const refused = { ...query, timeInterval: 'oneDay', filters: refusedBy(kind === 'waf' ? 'waf' : 'any') } as const;
  return (
    <>
      <div className={classes['thirds']}>
        <TopList kind={kind === 'waf' ? 'wafRule' : 'blacklist'} query={query} {...top} />
        {kinds.map((each) => (
          <TopList key={each} kind={each} query={refused} {...top} />
        ))}
      </div>
      {state.range !== '24h' && <p className={classes['hint']}>{t('securityAnalysis.newestDay')}</p>}
    </>
  );
}
