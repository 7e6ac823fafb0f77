import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';

/** Link to the installation of a new node, optionally in a zone. */
export function InstallNode({ zoneID, main = true }: { zoneID?: string | undefined; main?: boolean }) {
  const t = useT();
  const can = useCan();
  if (!can(nodes.create)) return null;
  const query = zoneID === undefined ? '' : `?zone=${zoneID}`;
  return (
    <Button
      component={Link}
      to={to(`nodeManage/nodesList/new/install${query}`)}
      {...(main && { 'data-main-action': true })}
      leftSection={<IconPlus size={15} stroke={1.8} />}
    >
      {t('nodes.create')}
    </Button>
  );
}
