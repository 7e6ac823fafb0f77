import { useState } from 'react';
import { Link } from 'react-router-dom';
import { Status } from '../../components/status/status.tsx';
import { Count, Nothing } from '../../components/values/values.tsx';
import { to } from '../../lib/family.ts';
import { count, percent } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { messageText } from './format.ts';
import type { RolloutNode } from './live-rollout.ts';
import classes from './rollouts.module.css';

/** Number of nodes shown until the reader asks for all. */
const SHOWN_AT_FIRST = 200;

/** Metrics of a node before its update only serve the comparison. */
const withoutEarlyMetrics = (node: RolloutNode): RolloutNode =>
  node.startedAt === null ? { ...node, requests: null, serverErrors: null, p99Ms: null } : node;

/** The nodes by wave, with their state and traffic since the update. */
export function RolloutNodes({ nodes }: { nodes: readonly RolloutNode[] }) {
  const t = useT();
  const language = useLanguage();
  const [all, setAll] = useState(false);
  const ordered = nodes.toSorted((a, b) => a.wave - b.wave || a.nodeName.localeCompare(b.nodeName, 'en'));
  const shown = all ? ordered : ordered.slice(0, SHOWN_AT_FIRST);
  // Zone changes have no versions of software.
  const hasVersions = nodes.some(({ from }) => from !== null);
  return (
    // oxlint-disable jsx-a11y/no-noninteractive-tabindex -- scrollable regions need keyboard access
    <section className={classes['scroll']} aria-label={t('rollouts.nodes.name')} tabIndex={0}>
      <table className={classes['nodes']}>
        <caption className="hidden-text">{t('rollouts.nodes.name')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('rollouts.nodes.node')}</th>
            <th scope="col" data-number>
              {t('rollouts.nodes.wave')}
            </th>
            <th scope="col">{t('rollouts.nodes.state')}</th>
            {hasVersions && <th scope="col">{t('rollouts.nodes.from')}</th>}
            <th scope="col" data-number>
              {t('rollouts.nodes.requests')}
            </th>
            <th scope="col" data-number>
              {t('rollouts.nodes.serverErrors')}
            </th>
            <th scope="col" data-number>
              {t('rollouts.nodes.p99Ms')}
            </th>
          </tr>
        </thead>
        <tbody>
          {shown
            .map(withoutEarlyMetrics)
            .map(({ nodeID, nodeName, wave, state, from, message, messageCode, requests, serverErrors, p99Ms }) => (
              <tr key={nodeID} data-waiting={state === 'waiting' || undefined}>
                <th scope="row">
                  <Link to={to(`nodeManage/nodesList/${nodeID}?tab=upgrades`)} title={nodeName}>
                    {nodeName}
                  </Link>
                </th>
                <td data-number>{count(wave + 1)}</td>
                <td className={classes['state']}>
                  <Status kind="rolloutNode" value={state} why={messageText({ message, messageCode }, t, language)} />
                </td>
                {hasVersions && <td>{from ?? <Nothing />}</td>}
                <td data-number>
                  <Count of={requests} />
                </td>
                <td data-number>
                  {requests === null || serverErrors === null || requests === 0 ? (
                    <Nothing />
                  ) : (
                    percent(serverErrors / requests)
                  )}
                </td>
                <td data-number>{p99Ms === null ? <Nothing /> : `${count(Math.round(p99Ms))}\u00a0ms`}</td>
              </tr>
            ))}
        </tbody>
      </table>
      {shown.length < ordered.length && (
        <button type="button" className={classes['more']} onClick={() => setAll(true)}>
          {t('rollouts.nodes.more', { count: count(ordered.length) })}
        </button>
      )}
    </section>
    // oxlint-enable jsx-a11y/no-noninteractive-tabindex
  );
}
