import { Button } from '@mantine/core';
import { useOverlayClose } from '../../components/overlay/overlay.tsx';
import { CodeBox } from '../../components/values/code-box.tsx';
import { time } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import classes from '../nodes/nodes.module.css';

/** The command that makes a machine this monitor. */
export function MonitorJoin({ token }: { token: { command: string; expiresAt: string } }) {
  const t = useT();
  const close = useOverlayClose();
  return (
    <div className={classes['join']}>
      <p>{t('monitorNodes.join.text')}</p>
      <CodeBox text={token.command} />
      <p className={classes['once']}>{t('monitorNodes.join.once', { time: time(token.expiresAt) })}</p>
      <div className="dialog-buttons">
        <Button variant="default" onClick={close}>
          {t('common.close')}
        </Button>
      </div>
    </div>
  );
}
