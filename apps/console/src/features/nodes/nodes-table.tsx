import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { NodeKind, NodePortType, NodeRole, NodeStatus, NodeType } from '@edgeloom/contract/nodes/nodes.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { IconKey, IconServer } from '@tabler/icons-react';
import { useSearchParams } from 'react-router-dom';
import { act, edit, type BulkAction } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable, type GroupOf } from '../../components/resource-table/resource-table.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Pill, Status, toneOf } from '../../components/status/status.tsx';
import { Bits, Bytes, Count, Nothing } from '../../components/values/values.tsx';
import { count } from '../../lib/format.ts';
import { t, useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import {
  clearing,
  disabling,
  draining,
  enabling,
  rebooting,
  removing,
  resetting,
  rotating,
  useNodeForms,
  useRejoin,
} from './node-actions.ts';
import { BandwidthSpark } from './bandwidth-spark.tsx';
import { Meter } from './meter.tsx';
import { InstallNode } from './install-node.tsx';
import { NodeForm } from './node-form.tsx';
import { reasonOf, type EdgeNode } from './node-states.ts';
import classes from './nodes.module.css';
import { Serial } from './serial.tsx';
import { useUpgrading } from '../upgrades/upgrading.ts';
import { Version } from '../upgrades/version.tsx';

const POLL_MS = 5000;

const columns: Column<EdgeNode>[] = [
  {
    key: 'name',
    // Virtual nodes have their own page with DNS records.
    to: ({ id, type, zoneID }) =>
      type === 'virtual' ? `nodeManage/vNode?zone=${zoneID}` : `nodeManage/nodesList/${id}`,
    render: ({ name, ip }) => (
      <>
        {name}
        <span className={classes['ip']}>{ip}</span>
      </>
    ),
  },
  {
    key: 'status',
    flexible: true,
    sort: 'severity',
    render: (node) => <Status kind="node" value={node.status} why={reasonOf(node, t)} />,
    text: ({ status }) => t(`status.node.${status}`),
  },
  { key: 'type', sort: false, hidden: true, render: ({ type }) => t(`nodes.choices.type.${type}`) },
  {
    key: 'forceBackup',
    sort: false,
    priority: 3,
    render: ({ forceBackup }) => (forceBackup ? <Pill tone="warn">{t('common.yes')}</Pill> : <Nothing />),
    text: ({ forceBackup }) => t(forceBackup ? 'common.yes' : 'common.no'),
  },
  { key: 'kind', render: ({ kind }) => t(`nodes.choices.kind.${kind}`), hidden: true },
  { key: 'role', render: ({ role }) => t(`nodes.choices.role.${role}`) },
  {
    key: 'portType',
    priority: 2,
    render: ({ portType }) => t(`nodes.layers.${portType}`),
    text: ({ portType }) => t(`nodes.layers.${portType}`),
  },
  { key: 'currentSerial', render: (node) => (node.type === 'virtual' ? <Nothing /> : <Serial node={node} />) },
  {
    key: 'sent',
    align: 'right',
    priority: 2,
    sort: false,
    render: ({ id, load }) => (
      <>
        <BandwidthSpark nodeID={id} />
        <Bits of={load?.sent} />
      </>
    ),
    text: ({ load }) => String(load?.sent ?? ''),
  },
  {
    key: 'connections',
    align: 'right',
    priority: 2,
    sort: false,
    render: ({ load }) => <Count of={load?.connections} />,
    text: ({ load }) => String(load?.connections ?? ''),
  },
  {
    key: 'cpu',
    priority: 2,
    sort: false,
    render: ({ load }) => (load ? <Meter share={load.cpu} /> : <Nothing />),
    text: ({ load }) => String(load?.cpu ?? ''),
  },
  {
    key: 'cacheBytes',
    as: 'bytes',
    priority: 2,
    sort: false,
    render: ({ type, cacheBytes }) => (type === 'virtual' ? <Nothing /> : <Bytes of={cacheBytes} />),
  },
  { key: 'lastSeenAt', as: 'time', hidden: true },
  { key: 'memo', hidden: true },
  {
    key: 'version',
    render: (node) =>
      node.type === 'virtual' ? (
        <Nothing />
      ) : (
        <>
          <Version node={node} />
          <Upgrading status={node.upgradeStatus} />
        </>
      ),
    text: ({ version }) => version,
  },
  {
    key: 'upgradeStatus',
    hidden: true,
    sort: false,
    render: ({ upgradeStatus }) => <Status kind="upgrade" value={upgradeStatus} />,
    text: ({ upgradeStatus }) => t(`status.upgrade.${upgradeStatus}`),
  },
];

/** A mark beside the version during an upgrade or after a failed one. */
function Upgrading({ status }: { status: EdgeNode['upgradeStatus'] }) {
  const t = useT();
  if (status !== 'updating' && status !== 'updateFailed') return null;
  const label = t(`status.upgrade.${status}`);
  return (
    <span className={classes['upgrading']} title={label}>
      <StatusMark tone={toneOf('upgrade', status)} label={label} />
    </span>
  );
}

const byZone: GroupOf<EdgeNode> = {
  by: ({ zoneID }) => zoneID,
  label: (zoneID, rows) => <ZoneLabel zoneID={zoneID} rows={rows} />,
};

/** All nodes, or those of one zone. Live, with a stable row order. */
export function NodesTable({ zoneId }: { zoneId?: string }) {
  const rejoin = useRejoin();
  const [search] = useSearchParams();
  const rejoining = act<EdgeNode>({
    label: 'nodes.actions.rejoin',
    icon: IconKey,
    can: nodes.rejoin.can,
    run: async ([node]) => {
      if (node) await rejoin(node);
    },
  });
  const { moving, purging, roles, geneva, rotation, monitoring } = useNodeForms();
  const upgrading = useUpgrading();
  const bulk: BulkAction<EdgeNode>[] = [
    enabling,
    draining,
    disabling,
    upgrading,
    roles,
    moving,
    monitoring,
    geneva,
    rotation,
    rotating,
    purging,
    clearing,
    resetting,
    rebooting,
    removing,
  ];
  return (
    <ResourceTable
      endpoint={nodes.list}
      columns={columns}
      caption="nodes.title"
      counted={() => null}
      search="search"
      pollMs={POLL_MS}
      filters={[
        {
          key: 'status',
          choices: NodeStatus.options,
          status: 'node',
          many: true,
        },
        { key: 'type', choices: NodeType.options },
        { key: 'kind', choices: NodeKind.options },
        { key: 'behind', yesNo: true },
        { key: 'jobFailed', yesNo: true },
        { key: 'logsLost', yesNo: true },
        { key: 'failingMonitors', yesNo: true },
        { key: 'role', choices: NodeRole.options },
        { key: 'portType', choices: NodePortType.options },
        { key: 'forceBackup', yesNo: true },
        ...(zoneId ? [] : [{ key: 'zoneID', meta: zones.meta }]),
      ]}
      {...(zoneId ? { query: { zoneID: zoneId } } : { group: byZone })}
      row={(node) =>
        node.type === 'virtual'
          ? []
          : [
              edit(<NodeForm value={node} />, { title: 'nodes.edit', can: nodes.update.can }),
              ...(node.enabled ? [draining, disabling] : [enabling]),
              roles,
              moving,
              monitoring,
              rejoining,
              ...(node.initialized
                ? [upgrading, geneva, rotation, rotating, purging, clearing, resetting, rebooting]
                : []),
              removing,
            ]
      }
      bulk={search.get('type') === 'virtual' ? [] : bulk}
      phone={(node) => ({
        below: <Status kind="node" value={node.status} why={reasonOf(node, t)} />,
        end: <Serial node={node} />,
      })}
      empty={{ icon: IconServer, action: <InstallNode zoneID={zoneId} main={false} /> }}
    />
  );
}

/** Counts all nodes of the zone, not only those on this page. */
function ZoneLabel({ zoneID, rows }: { zoneID: string; rows: readonly EdgeNode[] }) {
  const t = useT();
  const { data: zone } = useEndpoint(zones.get, { params: { zoneId: zoneID } }, { pollMs: POLL_MS });
  return (
    <>
      <b>{zone?.name ?? rows[0]?.zoneName}</b>
      <span className={classes['group']}>
        {t('nodes.group', {
          count: zone?.nodeCount ?? rows.length,
          serial: count(zone?.serial ?? rows[0]?.latestSerial ?? 0),
        })}
      </span>
    </>
  );
}
