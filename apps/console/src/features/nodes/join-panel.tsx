import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Button, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { useOverlayClose } from '../../components/overlay/overlay.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { CodeBox } from '../../components/values/code-box.tsx';
import { to } from '../../lib/family.ts';
import { count, time } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { InstallForm, type Installable } from '../node-jobs/install-form.tsx';
import classes from './nodes.module.css';

interface JoinPanelProps {
  node: Installable;
  token: { command: string; expiresAt: string };
}

/** Two ways for a machine to become this node: it comes for what it needs, or we go to it. */
export function JoinPanel({ node, token }: JoinPanelProps) {
  const t = useT();
  const [way, setWay] = useState('line');
  return (
    <div className={classes['join']}>
      <SegmentedControl
        aria-label={t('nodes.join.way')}
        value={way}
        onChange={setWay}
        data={[
          { value: 'line', label: t('nodes.join.line') },
          { value: 'ssh', label: t('nodes.join.ssh') },
        ]}
      />
      {way === 'line' ? <Line node={node} token={token} /> : <InstallForm node={node} />}
    </div>
  );
}

/** What is pasted on the machine, and the moment it has joined. */
function Line({ node, token }: JoinPanelProps) {
  const t = useT();
  const close = useOverlayClose();
  const [since] = useState(() => Date.now());
  const { data } = useEndpoint(nodes.get, { params: { nodeID: node.id } }, { pollMs: 2000 });
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
    </>
  );
}
