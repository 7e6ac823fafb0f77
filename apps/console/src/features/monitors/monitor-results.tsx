import type { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Section } from '../../components/page/section.tsx';
import { Status } from '../../components/status/status.tsx';
import { Nothing, Time } from '../../components/values/values.tsx';
import { took } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import classes from '../nodes/nodes.module.css';

/** The finding of each monitor about a node, and its reason. */
export function MonitorResults({ rows }: { rows: Received<typeof nodes.config>['monitorResults'] }) {
  const t = useT();
  return (
    <Section title="nodes.monitors.title" why="nodes.monitors.why">
      <table className={classes['rejected']}>
        <caption className="hidden-text">{t('nodes.monitors.title')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('nodes.monitors.monitor')}</th>
            <th scope="col">{t('nodes.monitors.finding')}</th>
            <th scope="col">{t('nodes.monitors.lastCheck')}</th>
            <th scope="col">{t('nodes.monitors.reportedAt')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ monitorID, monitorName, finding, error, tookMs, reportedAt }) => (
            <tr key={monitorID}>
              <td>{monitorName}</td>
              <td>
                <Status kind="monitorFinding" value={finding} />
              </td>
              <td>{error ?? (tookMs === null ? <Nothing /> : took(tookMs))}</td>
              <td>
                <Time at={reportedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
