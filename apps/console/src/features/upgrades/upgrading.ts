import { upgrades } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { IconCloudUp } from '@tabler/icons-react';
import { createElement } from 'react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { act, type RunAction } from '../../components/resource-table/actions.tsx';
import { useT } from '../../lib/i18n.ts';
import type { EdgeNode } from '../nodes/node-states.ts';
import { UpgradeForm } from './upgrade-form.tsx';

/** Upgrades the agents of the selected nodes. */
export function useUpgrading(): RunAction<EdgeNode> {
  const t = useT();
  const overlay = useOverlay();
  return act({
    label: 'nodes.actions.upgrade',
    icon: IconCloudUp,
    can: upgrades.begin.can,
    more: true,
    run: (rows) =>
      overlay(createElement(UpgradeForm, { product: 'agent', rows }), {
        title: { text: t('upgrades.of', { product: t('rollouts.product.agent') }) },
      }),
  });
}
