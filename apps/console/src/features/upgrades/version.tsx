import { upgrades } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { Button } from '@mantine/core';
import { IconCloudUp } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Nothing } from '../../components/values/values.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import type { EdgeNode } from '../nodes/node-states.ts';
import { UpgradeForm } from './upgrade-form.tsx';
import classes from './upgrades.module.css';

function useLatestAgent() {
  const can = useCan();
  const { data } = useEndpoint(upgrades.latest, {}, { pollMs: 15_000, enabled: can(upgrades.latest) });
  return data?.data.find(({ product }) => product === 'agent');
}

/** Agent version, marked when a newer one exists. */
export function Version({ node: { version } }: { node: Pick<EdgeNode, 'version'> }) {
  const t = useT();
  const newest = useLatestAgent()?.version ?? null;
  if (version === '') return <Nothing />;
  if (newest === null || newest === version) return <>{version}</>;
  return (
    <span className={classes['old']} title={t('upgrades.newer', { version: newest })}>
      {version}
    </span>
  );
}

/** Number of outdated nodes, with a link to the upgrade. */
export function UpgradeBehind() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const behind = useLatestAgent()?.behind ?? 0;
  if (behind === 0 || !can(upgrades.begin)) return null;
  return (
    <Button
      variant="default"
      leftSection={<IconCloudUp size={15} stroke={1.6} />}
      onClick={() =>
        overlay(<UpgradeForm product="agent" />, {
          title: { text: t('upgrades.of', { product: t('rollouts.product.agent') }) },
        })
      }
    >
      {t('upgrades.startCount', { count: behind })}
    </Button>
  );
}
