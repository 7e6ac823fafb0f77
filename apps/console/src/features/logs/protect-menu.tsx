// Blocks or exempts the visitor of a request at its site, in one click.
import { blockIPs } from '@edgeloom/contract/block-ips/block-ips.endpoints.ts';
import { ActionIcon, Menu } from '@mantine/core';
import { IconShieldCog } from '@tabler/icons-react';
import { useNavigate } from 'react-router-dom';
import { useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { toast } from '../../stores/toasts.ts';
import type { LogRow } from './log-row.ts';

const HOUR_MS = 3_600_000;
const durations = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS, forever: null } as const;

export function ProtectMenu({ row }: { row: LogRow }) {
  const t = useT();
  const can = useCan();
  const navigate = useNavigate();
  const options = { refreshes: ['firewall', 'blacklists', 'whitelists', 'sites'] };
  const blocking = useAction(blockIPs.block, options);
  const exempting = useAction(blockIPs.exempt, options);
  const { siteID, siteName, address, uri } = row;
  if (siteID === null || !can(blockIPs.block)) return null;
  const params = { siteId: siteID };
  const memo = t('blockIPs.fromLogs');
  const report = (reply: unknown, text: string, tab: string) => {
    if (reply === null) return;
    const open = siteAddress({ id: siteID, name: siteName }, 'firewall', tab);
    toast({ text, action: { label: t('blockIPs.openList'), run: () => void navigate(open) } });
  };
  const block = async (ms: number | null) => {
    const until = ms === null ? null : new Date(Date.now() + ms).toISOString();
    const reply = await blocking.run({ params, body: { ip: address, until, memo } });
    report(reply, t('blockIPs.blockedAtSite', { ip: address }), 'black');
  };
  const exempt = async (url?: string) => {
    const reply = await exempting.run({ params, body: { ip: address, memo, ...(url !== undefined && { url }) } });
    report(reply, t('blockIPs.exempted', { ip: address }), 'white');
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          title={t('blockIPs.protect')}
          aria-label={t('blockIPs.protect')}
          loading={blocking.running || exempting.running}
        >
          <IconShieldCog size={16} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('blockIPs.block')}</Menu.Label>
        {(['hour', 'day', 'week', 'forever'] as const).map((key) => (
          <Menu.Item key={key} onClick={() => void block(durations[key])}>
            {t(`blockIPs.durations.${key}`)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>{t('blockIPs.exempt')}</Menu.Label>
        <Menu.Item onClick={() => void exempt()}>{t('blockIPs.everywhere')}</Menu.Item>
        <Menu.Item onClick={() => void exempt(uri)}>{t('blockIPs.onPath')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
