import { blockIPs } from '@edgeloom/contract/block-ips/block-ips.endpoints.ts';
import { Button } from '@mantine/core';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { useT } from '../../lib/i18n.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './block-ips.module.css';

/** Shown to people whose own address is blocked, however they came here. */
export function OwnBlockNotice() {
  const t = useT();
  const { data } = useEndpoint(blockIPs.own);
  const { run, running } = useAction(blockIPs.removeOwn, { done: 'ipset.unblocked', refreshes: ['ipset'] });
  if (data === undefined || data.blocks.length === 0) return null;
  return (
    <div className={classes['own']} aria-live="polite">
      <p>
        <StatusMark tone="warn" /> {t('blockIPs.own', { ip: data.ip })}
      </p>
      <Button variant="default" loading={running} onClick={() => void run()}>
        {t('blockIPs.unblockOwn')}
      </Button>
    </div>
  );
}
