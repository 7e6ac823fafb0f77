import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import {
  IconArrowsExchange,
  IconCalendarTime,
  IconCut,
  IconDoorExit,
  IconEraser,
  IconTrashX,
  IconFileArrowRight,
  IconMapPinShare,
  IconPlugOff,
  IconRadar2,
  IconRefreshDot,
  IconReload,
  IconTerminal2,
  type Icon,
} from '@tabler/icons-react';
import { createElement, type ComponentType } from 'react';
import { useConfirm } from '../../components/confirm/confirm.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import {
  act,
  does,
  remove,
  turnOff,
  turnOn,
  type CallAction,
  type RunAction,
} from '../../components/resource-table/actions.tsx';
import { t, useT, type Word } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { NodeMonitorForm } from '../monitors/node-monitor-form.tsx';
import { isConnected } from './figures.ts';
import { JoinPanel } from './join-panel.tsx';
import { GenevaForm, LogRotateTimeForm, MoveForm, PurgeForm, RoleForm } from './node-forms.tsx';
import type { EdgeNode } from './node-states.ts';

// Actions on nodes, shared by lists and pages.
const refreshes = ['zones'];
const idsOf = (rows: readonly EdgeNode[]) => rows.map(({ id }) => id);

export const enabling = turnOn<EdgeNode, typeof nodes.status>(nodes.status, {
  label: 'nodes.actions.enable',
  refreshes,
  done: 'nodes.done.enabled',
  applies: ({ enabled }) => !enabled,
});
export const disabling = turnOff<EdgeNode, typeof nodes.status>(nodes.status, {
  label: 'nodes.actions.disable',
  refreshes,
  done: 'nodes.done.disabled',
  applies: ({ enabled }) => enabled,
  confirm: (names) => ({
    title: t('nodes.disableTitle', { name: names.join(t('common.comma')) }),
    points: [t('nodes.disablePoints.traffic'), t('nodes.disablePoints.back')],
  }),
});
/** Within five minutes, resolvers have learned another address. */
const DRAIN_SECONDS = 300;
export const draining: CallAction<EdgeNode> = does(nodes.status, {
  label: 'nodes.actions.drain',
  icon: IconDoorExit,
  refreshes,
  done: 'nodes.done.drained',
  applies: ({ enabled }) => enabled,
  send: (rows) => ({ body: { ids: idsOf(rows), enabled: false, drainSeconds: DRAIN_SECONDS } }),
  undo: (rows) => [{ ids: idsOf(rows), send: (ids) => ({ body: { ids, enabled: true } }) }],
  confirm: ({ length: count }) => ({
    title: t('nodes.drainTitle', { count }),
    points: [t('nodes.drainPoints.serves'), t('nodes.drainPoints.after')],
  }),
});
/** Only connected machines can run commands. */
const asked = { applies: (node: EdgeNode) => isConnected(node), skips: 'nodes.live.away' } as const;
export const clearing: CallAction<EdgeNode> = does(nodes.currentCache, {
  ...asked,
  label: 'nodes.actions.clearCache',
  icon: IconTrashX,
  danger: true,
  more: true,
  done: 'nodes.done.cleared',
  send: (rows) => ({ body: { ids: idsOf(rows) } }),
  confirm: ({ length: count }) => ({ title: t('nodes.clearTitle', { count }), points: [t('nodes.clearPoint')] }),
});
export const rotating: CallAction<EdgeNode> = does(nodes.logRotate, {
  ...asked,
  label: 'nodes.actions.rotateLogs',
  icon: IconFileArrowRight,
  more: true,
  done: 'nodes.done.rotated',
  send: (rows) => ({ body: { ids: idsOf(rows) } }),
});
export const rebooting: CallAction<EdgeNode> = does(nodes.reboot, {
  ...asked,
  label: 'nodes.actions.reboot',
  icon: IconReload,
  danger: true,
  more: true,
  done: 'nodes.done.rebooted',
  send: (rows) => ({ body: { ids: idsOf(rows) } }),
  confirm: (names) => ({
    title: t('nodes.rebootTitle', { count: names.length }),
    points: [t('nodes.rebootPoint')],
    ...(names.length === 1 && { type: names[0] }),
  }),
});
export const resetting: CallAction<EdgeNode> = does(nodes.reset, {
  ...asked,
  label: 'nodes.actions.reset',
  icon: IconRefreshDot,
  more: true,
  done: 'nodes.done.reset',
  send: (rows) => ({ body: { ids: idsOf(rows) } }),
  confirm: ({ length: count }) => ({ title: t('nodes.resetTitle', { count }), points: [t('nodes.resetPoint')] }),
});
const hasCredentials = ({ ssh }: EdgeNode) => ssh?.hasPassword === true || ssh?.hasPrivateKey === true;
/** Bulk installation with stored credentials. */
export const installing: CallAction<EdgeNode> = does(nodeJobs.initialize, {
  label: 'nodeJobs.install',
  icon: IconTerminal2,
  refreshes: ['nodes'],
  done: 'nodeJobs.started',
  applies: hasCredentials,
  skips: 'nodeJobs.noInstall',
  send: (rows) => ({ body: { ids: idsOf(rows) } }),
  confirm: (names) => ({
    title: t('nodeJobs.installTitle', { name: names.join(t('common.comma')) }),
    points: [t('nodeJobs.installPoint'), t('nodeJobs.installKey')],
  }),
});
/** Only for disabled nodes with stored credentials. */
export const uninstalling: CallAction<EdgeNode> = does(nodeJobs.uninstall, {
  label: 'nodeJobs.uninstall',
  icon: IconPlugOff,
  danger: true,
  more: true,
  refreshes: ['nodes'],
  done: 'nodeJobs.started',
  applies: (node) => !node.enabled && hasCredentials(node),
  skips: 'nodeJobs.noUninstall',
  send: (rows) => ({ body: { ids: idsOf(rows) } }),
  confirm: (names) => ({
    title: t('nodeJobs.uninstallTitle', { name: names.join(t('common.comma')) }),
    points: [t('nodeJobs.uninstallPoint'), t('nodeJobs.uninstallAgain')],
  }),
});
export const removing = remove<EdgeNode, typeof nodes.remove>(nodes.remove, {
  refreshes,
  applies: ({ enabled }) => !enabled,
  confirm: () => ({ points: [t('nodes.removePoint')] }),
});

/** Creates a join token and shows its command. */
export function useRejoin() {
  const t = useT();
  const confirm = useConfirm();
  const overlay = useOverlay();
  const rejoin = useAction(nodes.rejoin);
  return async (node: EdgeNode) => {
    const sure =
      !node.initialized ||
      (await confirm({
        title: t('nodes.rejoinTitle', { name: node.name }),
        points: [t('nodes.rejoinPoint')],
        verb: t('nodes.actions.rejoin'),
      }));
    const token = sure && (await rejoin.run({ params: { nodeID: node.id } }));
    if (token)
      overlay(createElement(JoinPanel, { nodeID: node.id, token }), {
        title: { text: t('nodes.join.title', { name: node.name }) },
      });
  };
}

/** Actions that need a form. */
export function useNodeForms() {
  const overlay = useOverlay();
  const asking = (
    Form: ComponentType<{ rows: readonly EdgeNode[] }>,
    { label, icon, can: { can } }: { label: Word; icon: Icon; can: Pick<Endpoint, 'can'> },
  ): RunAction<EdgeNode> =>
    act({
      label,
      icon,
      can,
      more: true,
      run: (rows) => overlay(createElement(Form, { rows }), { title: label }),
    });
  return {
    moving: asking(MoveForm, { label: 'nodes.actions.move', icon: IconMapPinShare, can: nodes.moveToZone }),
    purging: asking(PurgeForm, { label: 'nodes.actions.purge', icon: IconEraser, can: nodes.cache }),
    roles: asking(RoleForm, { label: 'nodes.actions.role', icon: IconArrowsExchange, can: nodes.role }),
    geneva: asking(GenevaForm, { label: 'nodes.actions.geneva', icon: IconCut, can: nodes.geneva }),
    monitoring: asking(NodeMonitorForm, { label: 'nodes.actions.monitor', icon: IconRadar2, can: nodes.monitor }),
    rotation: asking(LogRotateTimeForm, {
      label: 'nodes.actions.rotation',
      icon: IconCalendarTime,
      can: nodes.logRotateTime,
    }),
  };
}
