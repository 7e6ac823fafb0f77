import { system } from '@edgeloom/contract/system/system.calls.ts';
import type { ReactNode } from 'react';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { took } from '../../lib/format.ts';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useWasNear } from '../../lib/use-was-near.ts';
import { HealthRow } from './health-row.tsx';
import { Panel } from './panel.tsx';
import classes from './dashboard.module.css';

const tones = { ok: 'ok', degraded: 'warn', down: 'bad' } as const;

/** State of the control plane's components. Loads when the reader is about to see it. `children` are more lists. */
export function Health({ children }: { children?: ReactNode }) {
  const [panel, wasNear] = useWasNear();
  return (
    <div ref={panel}>
      <Panel title="dashboard.system">
        {wasNear && <Checks />}
        {children}
      </Panel>
    </div>
  );
}

function Checks() {
  const t = useT();
  const health = useEndpoint(system.health, {}, { pollMs: 15_000 });
  return (
    <Await result={health}>
      {({ status, checks, version }) => (
        <ul className={classes['items']}>
          <li className={classes['item']}>
            <StatusMark tone={tones[status]} />
            <span>{t(`dashboard.checks.${status}`)}</span>
            <span className={classes['quiet']}>
              {t('dashboard.version')} {version}
            </span>
          </li>
          {Object.entries(checks).map(([name, { ok, tookMs, error }]) => (
            <HealthRow key={name} tone={ok ? 'ok' : 'bad'} name={tMaybe(`dashboard.components.${name}`) ?? name}>
              {ok ? took(tookMs) : t(error === 'not reachable' ? 'dashboard.notReachable' : 'dashboard.noResponse')}
            </HealthRow>
          ))}
        </ul>
      )}
    </Await>
  );
}
