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

interface JoinToken {
  command: string;
  expiresAt: string;
}

/** Dialog with the join command and a new token. */
export function JoinPanel({ nodeID, token }: { nodeID: string; token: JoinToken }) {
  const t = useT();
  const close = useOverlayClose();
  return (
    <div className={classes['join']}>
      <JoinLine nodeID={nodeID} token={token} />
      <div className="dialog-buttons">
        <Button component={Link} to={to(`nodeManage/nodesList/${nodeID}/install`)} variant="subtle" onClick={close}>
          {t('nodeJobs.installSSH')}
        </Button>
        <Button variant="default" onClick={close}>
          {t('common.close')}
        </Button>
      </div>
    </div>
  );
}

/** The command to run on the machine, and whether the machine has joined. */
export function JoinLine({ nodeID, token }: { nodeID: string; token: JoinToken }) {
  const t = useT();
  const close = useOverlayClose();
  const [since] = useState(() => Date.now());
  const { data } = useEndpoint(nodes.get, { params: { nodeID } }, { pollMs: 2000 });
  const joined = data?.initialized === true && Date.parse(data.lastSeenAt ?? '') >= since;
  return (
    <>
      <p>{t('nodes.join.text')}</p>
      <CodeBox text={token.command} />
      <p className={classes['once']}>{t('nodes.join.once', { time: time(token.expiresAt) })}</p>
      <output className={classes['wait']} data-joined={joined || undefined}>
        <StatusMark tone={joined ? 'ok' : 'busy'} />
        {joined ? t('nodes.join.joinedSince', { serial: count(data.currentSerial) }) : t('nodes.join.waiting')}
      </output>
      {joined && (
        <div>
          <Button component={Link} to={to(`nodeManage/nodesList/${nodeID}`)} onClick={close}>
            {t('nodes.join.open')}
          </Button>
        </div>
      )}
    </>
  );
}
