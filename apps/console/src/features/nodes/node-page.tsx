import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Button } from '@mantine/core';
import { IconKey, IconPencil, IconPower, IconTerminal2 } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Page, useTab } from '../../components/page/page.tsx';
import { Section } from '../../components/page/section.tsx';
import type { RowAction } from '../../components/resource-table/actions.tsx';
import { RowMenu } from '../../components/resource-table/row-menu.tsx';
import { useAllowed, useRunAction } from '../../components/resource-table/run-actions.tsx';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Pill, Status, toneOf } from '../../components/status/status.tsx';
import { Copy } from '../../components/values/copy.tsx';
import { Bits, Bytes, Nothing, Time } from '../../components/values/values.tsx';
import { count, time, took } from '../../lib/format.ts';
import { to } from '../../lib/family.ts';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useRouteParams } from '../../lib/use-route-params.ts';
import { GroupsOfNode } from '../groups/groups-of-node.tsx';
import { Version } from '../upgrades/version.tsx';
import { useUpgrading } from '../upgrades/upgrading.ts';
import { UpgradeLog } from '../upgrades/upgrade-log.tsx';
import { JobsOfNode } from '../node-jobs/jobs-of-node.tsx';
import {
  clearing,
  disabling,
  draining,
  enabling,
  rebooting,
  resetting,
  rotating,
  uninstalling,
  useNodeForms,
  useRejoin,
} from './node-actions.ts';
import { NodeForm } from './node-form.tsx';
import { reasonOf, type EdgeNode } from './node-states.ts';
import classes from './nodes.module.css';
import { ConnectionsTab, PerformanceTab } from './performance-tab.tsx';
import { Running } from './running.tsx';
import { Serial } from './serial.tsx';
import { CacheTab, CommandsTab, GenevaTab, LogsTab } from './settings-tabs.tsx';
import { MonitorResults } from '../monitors/monitor-results.tsx';
import { Subs } from './subs.tsx';
import { UnreadableLines } from './unreadable-lines.tsx';

type Installed = Received<typeof nodes.config>;

/** One node, live: versions, sync state, rejected documents. */
export function NodePage() {
  const { nodeID } = useRouteParams('nodeID');
  const found = useEndpoint(nodes.get, { params: { nodeID } }, { pollMs: 2000 });
  return (
    <Await result={found} page="nodes.title">
      {(node) => <Loaded node={node} />}
    </Await>
  );
}

function Loaded({ node }: { node: EdgeNode }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const rejoin = useRejoin();
  const runAction = useRunAction<EdgeNode>();
  const { moving, purging, roles, geneva, rotation, monitoring } = useNodeForms();
  const upgrading = useUpgrading();
  const allowed = useAllowed();
  const [opened, setOpened] = useState(false);
  const more = allowed<EdgeNode, RowAction<EdgeNode>>([
    ...(node.enabled ? [draining] : []),
    roles,
    moving,
    monitoring,
    ...(node.initialized
      ? [upgrading, geneva, rotation, rotating, purging, clearing, resetting, rebooting, uninstalling]
      : []),
  ]);
  const tabs = [
    { value: 'info', label: 'nodes.tabs.info' },
    { value: 'performance', label: 'nodes.tabs.performance' },
    { value: 'connections', label: 'nodes.tabs.connections' },
    { value: 'cache', label: 'nodes.tabs.cache' },
    { value: 'geneva', label: 'nodes.tabs.geneva' },
    { value: 'logs', label: 'nodes.tabs.logs' },
    { value: 'commands', label: 'nodes.tabs.commands' },
    { value: 'upgrades', label: 'nodes.tabs.upgrades' },
  ] as const;
  const tab = useTab(tabs);
  const run = (action: RowAction<EdgeNode>) =>
    void runAction(action, { rows: [node], nameOf: ({ name }) => name, params: undefined });
  const installed = useEndpoint(nodes.config, { params: { nodeID: node.id } }, { pollMs: 2000 });
  return (
    <Page
      title="nodes.title"
      name={node.name}
      mark={<StatusMark tone={toneOf('node', node.status)} label={t(`status.node.${node.status}`)} />}
      facts={
        <>
          <Pill tone={toneOf('node', node.status)}>{t(`status.node.${node.status}`)}</Pill>
          {node.monitor?.enabled && (
            <Pill tone={toneOf('nodeMonitor', node.monitorStatus)}>
              {t(`status.nodeMonitor.${node.monitorStatus}`)}
            </Pill>
          )}
          <Copy text={node.ip} />
        </>
      }
      actions={
        <>
          {can(nodes.update) && (
            <Button
              variant="default"
              leftSection={<IconPencil size={15} stroke={1.6} />}
              onClick={() => overlay(<NodeForm value={node} />, { title: 'nodes.edit' })}
            >
              {t('common.edit')}
            </Button>
          )}
          {can(nodes.status) && (
            <Button
              variant="default"
              leftSection={<IconPower size={15} stroke={1.6} />}
              onClick={() => run(node.enabled ? disabling : enabling)}
            >
              {t(node.enabled ? 'nodes.actions.disable' : 'nodes.actions.enable')}
            </Button>
          )}
          {can(nodeJobs.initialize) && !node.initialized && (
            <Button
              leftSection={<IconTerminal2 size={15} stroke={1.6} />}
              component={Link}
              to={to(`nodeManage/nodesList/${node.id}/install`)}
            >
              {t('nodeJobs.installSSH')}
            </Button>
          )}
          {can(nodes.rejoin) && !node.initialized && (
            <Button
              variant="default"
              leftSection={<IconKey size={15} stroke={1.6} />}
              onClick={() => void rejoin(node)}
            >
              {t('nodes.actions.rejoin')}
            </Button>
          )}
          <RowMenu name={node.name} actions={more} onRun={run} opened={opened} onOpened={setOpened} />
        </>
      }
      tabs={tabs}
    >
      {tab === 'info' && <Await result={installed}>{(config) => <Info node={node} installed={config} />}</Await>}
      {tab === 'performance' && <PerformanceTab node={node} />}
      {tab === 'connections' && <ConnectionsTab node={node} />}
      {tab === 'cache' && <CacheTab node={node} />}
      {tab === 'geneva' && <GenevaTab node={node} />}
      {tab === 'logs' && <LogsTab node={node} />}
      {tab === 'commands' && <CommandsTab node={node} />}
      {tab === 'upgrades' && <UpgradeLog nodeID={node.id} />}
    </Page>
  );
}

function Info({ node, installed }: { node: EdgeNode; installed: Installed }) {
  const t = useT();
  const nothing = <Nothing />;
  const reason = reasonOf(node, t);
  const digest =
    installed.digestAgrees === null ? 'digestUnknown' : installed.digestAgrees ? 'digestAgrees' : 'digestDiffers';
  return (
    <>
      <Section title="nodes.info.machine" why="nodes.info.machineWhy">
        <Facts>
          <Fact term={t('nodes.fields.zoneName')}>{node.zoneName}</Fact>
          <Fact term={t('nodes.fields.kind')}>{t(`nodes.choices.kind.${node.kind}`)}</Fact>
          <Fact term={t('nodes.fields.role')}>{t(`nodes.choices.role.${node.role}`)}</Fact>
          <Fact term={t('nodes.fields.type')}>{t(`nodes.choices.type.${node.type}`)}</Fact>
          <Fact term={t('nodes.fields.forceBackup')}>{node.forceBackup ? t('nodes.info.forced') : t('common.no')}</Fact>
          <Fact term={t('nodes.fields.portType')}>{t(`nodes.choices.portType.${node.portType}`)}</Fact>
          <Fact term={t('nodes.fields.bandwidthMbps')}>
            {node.bandwidthMbps === 0 ? nothing : <Bits of={node.bandwidthMbps * 1e6} />}
          </Fact>
          {node.parentName !== null && node.parentID !== null && (
            <Fact term={t('nodes.fields.parentName')}>
              <Link to={to(`nodeManage/nodesList/${node.parentID}`)}>{node.parentName}</Link>
            </Fact>
          )}
          <Fact term={t('nodes.info.clock')}>
            {node.clockOffsetMs === null ? nothing : <Clock offsetMs={node.clockOffsetMs} />}
          </Fact>
          <Fact term={t('nodes.info.agent')}>
            <Version node={node} />
          </Fact>
          <Fact term={t('nodes.fields.upgradeStatus')}>
            <Status kind="upgrade" value={node.upgradeStatus} />
          </Fact>
          {node.packs.length > 0 && (
            <Fact term={t('nodes.info.packs')}>
              {node.packs
                .map(({ product, version }) =>
                  t('rollouts.what.release', { product: t(`rollouts.product.${product}`), version }),
                )
                .join(t('common.comma'))}
            </Fact>
          )}
          <Fact term={t('nodes.info.nginx')}>
            {tMaybe(`nodes.info.${installed.nginx}`) ?? installed.nginx ?? nothing}
          </Fact>
          <Fact term={t('nodes.fields.cacheDir')}>{node.cacheDir || t('nodes.info.ownFolder')}</Fact>
          <Fact term={t('nodes.fields.cacheMaxBytes')}>
            {node.cacheMaxBytes === 0 ? t('nodes.info.zoneDefault') : <Bytes of={node.cacheMaxBytes} />}
          </Fact>
          <Fact term={t('common.fields.memo')}>{node.memo || nothing}</Fact>
          <Fact term={t('nodes.info.capabilities')} wide>
            <span className={classes['chips']}>
              {installed.capabilities.length === 0
                ? t('nodes.info.notReported')
                : installed.capabilities.map((name) => (
                    <Pill key={name} tone="off">
                      {name}
                    </Pill>
                  ))}
            </span>
          </Fact>
        </Facts>
      </Section>
      <Section title="nodes.info.sync" why="nodes.info.syncWhy">
        <Facts>
          <Fact term={t('nodes.info.currentSerial')}>
            <Serial node={node} />
          </Fact>
          <Fact term={t('nodes.info.latestSerial')}>{count(installed.latestSerial)}</Fact>
          <Fact term={t('nodes.info.digest')}>{t(`nodes.info.${digest}`)}</Fact>
          <Fact term={t('nodes.fields.syncedAt')}>
            <Time at={node.syncedAt} />
          </Fact>
          <Fact term={t('nodes.fields.lastSeenAt')}>
            <Time at={node.lastSeenAt} />
          </Fact>
        </Facts>
      </Section>
      <Section title="nodes.info.faults" why="nodes.info.faultsWhy">
        <div className={classes['wide']}>
          <Status kind="node" value={node.status} why={reason === installed.error ? null : reason} />
        </div>
        {installed.error !== null && (
          <div className={classes['wide']}>
            <span className={classes['fault']}>
              {t('nodes.info.error')}
              {t('common.colon')}
              {installed.error}
            </span>
          </div>
        )}
        {installed.rejected.length > 0 && <Rejected rows={installed.rejected} />}
        {installed.failingPatterns.length > 0 && <FailingPatterns rows={installed.failingPatterns} />}
        {[installed.rejected, installed.failingPatterns].flat().length === 0 && reason === null && (
          <span>{t('nodes.info.noFaults')}</span>
        )}
      </Section>
      {installed.monitorResults.length > 0 && <MonitorResults rows={installed.monitorResults} />}
      {installed.logsLost > 0 && <LostLines lines={installed.logsLost} at={installed.logsLostAt} />}
      {installed.unreadableLines > 0 && <UnreadableLines node={node} count={installed.unreadableLines} />}
      {node.kind === 'edge' && <GroupsOfNode node={node} />}
      <Subs node={node} />
      <Running node={node} />
      <JobsOfNode node={node} />
    </>
  );
}

function LostLines({ lines, at }: { lines: number; at: Installed['logsLostAt'] }) {
  const t = useT();
  return (
    <Section title="nodes.lost.title" why="nodes.lost.why">
      <div className={classes['wide']}>
        {t('nodes.lost.count', { count: lines, number: count(lines), time: time(at) })}
      </div>
    </Section>
  );
}

/** With a larger clock offset, commands expire and certificates seem not yet valid. */
const CLOCK_MS = 5000;

function Clock({ offsetMs }: { offsetMs: number }) {
  const t = useT();
  const words = t(offsetMs < 0 ? 'nodes.info.clockBehind' : 'nodes.info.clockAhead', { by: took(Math.abs(offsetMs)) });
  const isOff = Math.abs(offsetMs) > CLOCK_MS;
  return isOff ? <span className={classes['fault']}>{words}</span> : <>{t('nodes.info.clockRight')}</>;
}

function FailingPatterns({ rows }: { rows: Installed['failingPatterns'] }) {
  const t = useT();
  return (
    <table className={classes['rejected']}>
      <caption>{t('nodes.info.failingPatterns')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('nodes.info.site')}</th>
          <th scope="col">{t('nodes.info.rule')}</th>
          <th scope="col">{t('nodes.info.reason')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ site, siteName, rule, error }) => (
          <tr key={`${site} ${rule}`}>
            <td>{siteName ?? site}</td>
            <td>{rule}</td>
            <td className={classes['fault']}>{error}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Rejected({ rows }: { rows: Installed['rejected'] }) {
  const t = useT();
  return (
    <table className={classes['rejected']}>
      <caption className="hidden-text">{t('nodes.tabs.rejected')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('nodes.info.document')}</th>
          <th scope="col">{t('nodes.info.revision')}</th>
          <th scope="col">{t('nodes.info.reason')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, revision, error }) => (
          <tr key={key}>
            <td>{key}</td>
            <td>{count(revision)}</td>
            <td className={classes['fault']}>{error}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
