import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Section } from '../../components/page/section.tsx';
import { Await } from '../../components/states/await.tsx';
import { Pill } from '../../components/status/status.tsx';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './groups.module.css';
import { lineName } from './line-name.ts';
import { PutOnLine } from './put-on-line.tsx';

/** Lines of a node, with a link to the board. */
export function GroupsOfNode({ node }: { node: { id: string; zoneID: string } }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const found = useEndpoint(groups.ofNode, { params: { nodeID: node.id } });
  const board = to(`nodeManage/resolutionTitle?zone=${node.zoneID}`);
  return (
    <Section title="groups.ofNode" why="groups.ofNodeWhy">
      <Await result={found}>
        {({ data }) => (
          <div className={classes['cell']}>
            {data.length === 0 && <span className={classes['asDefault']}>{t('groups.onNoLine')}</span>}
            {data.map(({ groupID, groupName, line, weight }) => (
              <Pill key={`${groupID} ${line}`} tone="off">
                {t('groups.place', { group: groupName, line: lineName(line), weight })}
              </Pill>
            ))}
            {can(groups.board) && <Link to={board}>{t('groups.title')}</Link>}
            {can(groups.place) && (
              <Button
                size="xs"
                variant="default"
                data-creates="placement"
                leftSection={<IconPlus size={14} stroke={1.8} />}
                onClick={() =>
                  overlay(<PutOnLine zoneId={node.zoneID} nodeID={node.id} />, { title: 'groups.putOnLine' })
                }
              >
                {t('groups.putOnLine')}
              </Button>
            )}
          </div>
        )}
      </Await>
    </Section>
  );
}
