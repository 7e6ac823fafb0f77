import { clientHealth } from '@edgeloom/contract/client-health/client-health.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { LATE_SECONDS } from '@edgeloom/contract/overview/late-seconds.ts';
import { Page } from '../../components/page/page.tsx';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { count, duration, took } from '../../lib/format.ts';
import { tMaybe, useLanguage, useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { HealthRow } from '../dashboard/health-row.tsx';
import { NodesHealth, PublishingHealth } from '../dashboard/installation-health.tsx';
import { Panel } from '../dashboard/panel.tsx';
import classes from '../dashboard/dashboard.module.css';

type ClientHealth = Received<typeof clientHealth.get>;

const tones = { ok: 'ok', warning: 'warn', error: 'bad' } as const;

/** The state of the control plane, and of the operator's nodes, changes, logs and certificates. */
export function ClientHealthPage() {
  const t = useT();
  const health = useEndpoint(clientHealth.get, {}, { pollMs: 15_000 });
  return (
    <Page title="clientHealth.title">
      <Await result={health}>
        {(found) => (
          <>
            <Panel title="clientHealth.all">
              <ul className={classes['items']}>
                <li className={classes['item']}>
                  <StatusMark tone={tones[found.status]} />
                  <span>{t(`clientHealth.status.${found.status}`)}</span>
                  <span className={classes['quiet']}>
                    {t('dashboard.version')} {found.version}
                  </span>
                </li>
              </ul>
            </Panel>
            <Panel title="clientHealth.own">
              <Own {...found} />
            </Panel>
            <Panel title="clientHealth.shared">
              <Shared {...found} />
            </Panel>
          </>
        )}
      </Await>
    </Page>
  );
}

function Own({ nodes, publishing, logs: { silentNodes }, certificates: { failed, ending } }: ClientHealth) {
  const t = useT();
  const rows = (word: 'silent' | 'failed' | 'ending', number: number) =>
    t(`clientHealth.${word}`, { count: number, rows: count(number) });
  const troubles = [failed > 0 && rows('failed', failed), ending > 0 && rows('ending', ending)];
  return (
    <ul className={classes['items']}>
      <NodesHealth nodes={nodes} />
      <PublishingHealth
        failing={publishing.failing}
        waiting={{ count: publishing.waiting, delaySeconds: publishing.delaySeconds }}
      />
      <HealthRow tone={silentNodes > 0 ? 'warn' : 'ok'} name={t('clientHealth.logs')}>
        {silentNodes > 0 ? rows('silent', silentNodes) : t('clientHealth.logsOk')}
      </HealthRow>
      <HealthRow tone={failed > 0 ? 'bad' : ending > 0 ? 'warn' : 'ok'} name={t('clientHealth.certificates')}>
        {troubles.filter((text) => text !== false).join(' · ') || t('clientHealth.certificatesOk')}
      </HealthRow>
    </ul>
  );
}

function Shared({ checks, queues }: ClientHealth) {
  const t = useT();
  const language = useLanguage();
  return (
    <ul className={classes['items']}>
      {Object.entries(checks).map(([name, { ok, tookMs, error }]) => (
        <HealthRow key={name} tone={ok ? 'ok' : 'bad'} name={tMaybe(`dashboard.components.${name}`) ?? name}>
          {ok ? took(tookMs) : t(error === 'not reachable' ? 'dashboard.notReachable' : 'dashboard.noResponse')}
        </HealthRow>
      ))}
      {queues.map(({ queue, delaySeconds }) => (
        <HealthRow
          key={queue}
          tone={delaySeconds > LATE_SECONDS ? 'warn' : 'ok'}
          name={tMaybe(`dashboard.health.queues.${queue}`) ?? queue}
        >
          {delaySeconds > LATE_SECONDS
            ? t('clientHealth.late', { time: duration(delaySeconds, language) })
            : t('dashboard.health.onTime')}
        </HealthRow>
      ))}
    </ul>
  );
}
