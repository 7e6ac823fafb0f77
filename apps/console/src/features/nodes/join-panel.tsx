import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { useOverlayClose } from '../../components/overlay/overlay.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { CodeBox } from '../../components/values/code-box.tsx';
import { to } from '../../lib/family.ts';
import { count, time } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './nodes.module.css';

interface JoinPanelProps {
  node: { id: string; name: string };
  token: { joinToken: string; expiresAt: string };
}

/** The one command that makes a machine this node, and the moment it has done so. */
export function JoinPanel({ node, token }: JoinPanelProps) {
  const t = useT();
  const close = useOverlayClose();
  const [since] = useState(() => Date.now());
  const { data } = useEndpoint(nodes.get, { params: { nodeID: node.id } }, { pollMs: 2000 });
  const joined = data?.initialized === true && Date.parse(data.lastSeenAt ?? '') >= since;
  const command = `EDGELOOM_CONTROL=${location.origin} EDGELOOM_TOKEN=${token.joinToken} node agent.mjs run`;
  return (
    <div className={classes['join']}>
      <p>{t('nodes.join.text')}</p>
      <CodeBox text={command} />
      <p className={classes['once']}>{t('nodes.join.once', { time: time(token.expiresAt) })}</p>
      <output className={classes['wait']} data-joined={joined || undefined}>
        <StatusMark tone={joined ? 'ok' : 'busy'} />
        {joined ? t('nodes.join.joinedSince', { serial: count(data.currentSerial) }) : t('nodes.join.waiting')}
      </output>
      <div className="dialog-buttons">
        <Button variant="default" onClick={close}>
          {t(joined ? 'common.close' : 'nodes.join.later')}
        </Button>
        {joined && (
          <Button component={Link} to={to(`nodeManage/nodesList/${node.id}`)} onClick={close}>
            {t('nodes.join.open')}
          </Button>
        )}
      </div>
    </div>
  );
}
