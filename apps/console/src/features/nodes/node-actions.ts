import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { IconRefreshDot } from '@tabler/icons-react';
import { createElement } from 'react';
import { useConfirm } from '../../components/confirm/confirm.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { does, remove, turnOff, turnOn, type CallAction } from '../../components/resource-table/actions.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { JoinPanel } from './join-panel.tsx';
import type { EdgeNode } from './node-states.ts';

// What is done to nodes, wherever it is offered.
const refreshes = ['zones'];

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
export const resetting: CallAction<EdgeNode> = does(nodes.reset, {
  label: 'nodes.actions.reset',
  icon: IconRefreshDot,
  done: 'nodes.done.reset',
  send: (rows) => ({ body: { ids: rows.map(({ id }) => id) } }),
  confirm: ({ length: count }) => ({ title: t('nodes.resetTitle', { count }), points: [t('nodes.resetPoint')] }),
});
export const removing = remove<EdgeNode, typeof nodes.remove>(nodes.remove, {
  refreshes,
  applies: ({ enabled }) => !enabled,
  confirm: () => ({ points: [t('nodes.removePoint'), t('common.confirm.final')] }),
});

/** A new join token, shown with the command that takes it. */
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
      overlay(createElement(JoinPanel, { node, token }), {
        title: { text: t('nodes.join.title', { name: node.name }) },
      });
  };
}
