// Blocks or exempts the visitor of a request at its site, in one click.
import { ActionIcon, Menu } from '@mantine/core';
import { IconShieldCog } from '@tabler/icons-react';
import { useT } from '../../lib/i18n.ts';
import { BlockItems } from '../block-ips/block-items.tsx';
import { isNeverBlocked, useAddressLists } from '../block-ips/use-address-lists.ts';
import type { LogRow } from './log-row.ts';

export function ProtectMenu({ row }: { row: LogRow }) {
  const t = useT();
  const { canBlock, isPending, block, exempt } = useAddressLists(t('blockIPs.fromLogs'));
  const { siteID, siteName, address, uri } = row;
  if (siteID === null || !canBlock) return null;
  const site = { id: siteID, name: siteName };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon title={t('blockIPs.protect')} aria-label={t('blockIPs.protect')} loading={isPending}>
          <IconShieldCog size={16} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {!isNeverBlocked(address) && (
          <>
            <Menu.Label>{t('blockIPs.block')}</Menu.Label>
            <BlockItems block={(duration) => void block(site, address, duration)} />
            <Menu.Divider />
          </>
        )}
        <Menu.Label>{t('blockIPs.exempt')}</Menu.Label>
        <Menu.Item onClick={() => void exempt(site, address)}>{t('blockIPs.everywhere')}</Menu.Item>
        <Menu.Item onClick={() => void exempt(site, address, uri)}>{t('blockIPs.onPath')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
