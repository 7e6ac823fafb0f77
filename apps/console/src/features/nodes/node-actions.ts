import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { createElement } from 'react';
import { useConfirm } from '../../components/confirm/confirm.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { JoinPanel } from './join-panel.tsx';
import type { EdgeNode } from './node-states.ts';

/** What is done to nodes, wherever it is offered. */
export function useNodeActions() {
  const t = useT();
  const confirm = useConfirm();
  const overlay = useOverlay();
  const status = useAction(nodes.status, { refreshes: ['zones'] });
  const reset = useAction(nodes.reset, { done: 'nodes.done.reset' });
  const rejoin = useAction(nodes.rejoin);
  const enabling = useAction(nodes.status, { refreshes: ['zones'], done: 'nodes.done.enabled' });

  return {
    enable: async (rows: readonly EdgeNode[]) => {
      await enabling.run({ body: { ids: rows.map(({ id }) => id), enabled: true } });
    },
    disable: async (rows: readonly EdgeNode[]) => {
      const name = rows.map((node) => node.name).join(t('common.comma'));
      const sure = await confirm({
        title: t('nodes.disableTitle', { name }),
        points: [t('nodes.disablePoints.traffic'), t('nodes.disablePoints.back')],
        verb: t('nodes.actions.disable'),
      });
      if (sure) await status.run({ body: { ids: rows.map(({ id }) => id), enabled: false } });
    },
    reset: async (rows: readonly EdgeNode[]) => {
      const sure = await confirm({
        title: t('nodes.resetTitle', { count: rows.length }),
        points: [t('nodes.resetPoint')],
        verb: t('nodes.actions.reset'),
      });
      if (sure) await reset.run({ body: { ids: rows.map(({ id }) => id) } });
    },
    rejoin: async ([node]: readonly EdgeNode[]) => {
      if (!node) return;
      const known = node.initialized;
      const sure =
        !known ||
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
    },
  };
}
