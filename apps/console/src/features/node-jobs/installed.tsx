import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { Button } from '@mantine/core';
import { Link } from 'react-router-dom';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useFirstChoice } from '../../lib/use-meta.ts';
import { lineName } from '../groups/line-name.ts';
import { PutOnLine } from '../groups/put-on-line.tsx';
import type { EdgeNode } from '../nodes/node-states.ts';
import classes from './node-jobs.module.css';

/** The node is installed. An edge node gets traffic once it is on a line. */
export function Installed({ node: { id, zoneID, kind } }: { node: Pick<EdgeNode, 'id' | 'zoneID' | 'kind'> }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const places = useEndpoint(groups.ofNode, { params: { nodeID: id } }).data?.data ?? [];
  const group = useFirstChoice(can(groups.meta) ? groups.meta : undefined, { zoneId: zoneID });
  const board = to(`nodeManage/resolutionTitle?zone=${zoneID}`);
  const names = places.map(({ groupName, line, weight }) =>
    t('groups.place', { group: groupName, line: lineName(line), weight }),
  );
  return (
    <div className={classes['installed']}>
      {kind === 'edge' && (
        <p>
          {places.length === 0
            ? t('nodeJobs.standsBy')
            : t('nodeJobs.stands', { places: names.join(t('common.semicolon')) })}
        </p>
      )}
      <div>
        <Button component={Link} to={to(`nodeManage/nodesList/${id}`)} variant="default">
          {t('nodes.join.open')}
        </Button>
        {kind === 'edge' && places.length === 0 && group && can(groups.place) ? (
          <Button onClick={() => overlay(<PutOnLine zoneId={zoneID} nodeID={id} />, { title: 'nodeJobs.putOnLine' })}>
            {t('nodeJobs.putOnLine')}
          </Button>
        ) : (
          kind === 'edge' &&
          can(groups.board) && (
            <Button component={Link} to={board} variant={places.length === 0 ? 'filled' : 'default'}>
              {t('groups.title')}
            </Button>
          )
        )}
      </div>
    </div>
  );
}
