import { blockIPs } from '@edgeloom/contract/block-ips/block-ips.endpoints.ts';
import { blockCauses } from '@edgeloom/contract/ipset/ipset.ts';
import { Button, Menu } from '@mantine/core';
import { IconLockOpen } from '@tabler/icons-react';
import { useConfirm } from '../../components/confirm/confirm.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { toast } from '../../stores/toasts.ts';

type Cause = (typeof blockCauses)[number];

/** Unblocks everything, or everything with one cause, however many pages it fills. */
export function UnblockMenu() {
  const t = useT();
  const can = useCan();
  const confirm = useConfirm();
  const { run, running } = useAction(blockIPs.remove, { refreshes: ['ipset'] });
  if (!can(blockIPs.remove)) return null;
  const unblock = async (cause?: Cause) => {
    const title = cause
      ? t('blockIPs.byCauseTitle', { cause: t(`ipset.choices.causes.${cause}`) })
      : t('blockIPs.allTitle');
    const points = [t('blockIPs.allPoint'), t('shared.confirm.final')];
    if (!(await confirm({ title, points, verb: t('ipset.unblock') }))) return;
    const reply = await run({ body: { all: true, ...(cause && { causes: [cause] }) } });
    if (reply !== null) toast({ text: t('blockIPs.removed', { count: reply.removed }) });
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconLockOpen size={15} stroke={1.8} />} loading={running}>
          {t('blockIPs.unblockMany')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={360} style={{ overflowY: 'auto' }}>
        <Menu.Item onClick={() => void unblock()}>{t('blockIPs.all')}</Menu.Item>
        <Menu.Divider />
        <Menu.Label>{t('blockIPs.byCause')}</Menu.Label>
        {blockCauses.map((cause) => (
          <Menu.Item key={cause} onClick={() => void unblock(cause)}>
            {t(`ipset.choices.causes.${cause}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
