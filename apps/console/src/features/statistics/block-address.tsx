// Blocks an address of the security page at a site that refused its requests.
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { Button, Menu } from '@mantine/core';
import { useState } from 'react';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { BlockItems } from '../block-ips/block-items.tsx';
import { useProtect, type BlockDuration, type ProtectedSite } from '../block-ips/use-protect.ts';
import type { Statistics } from './use-statistics.ts';
import classes from './statistics.module.css';

/** The API ranks domains. These are the ones with the most requests. */
const MAX_DOMAINS = 500;

interface BlockAddressProps {
  address: string;
  /** Selects the refused requests. */
  query: Statistics['query'];
}

/** Menu with durations, and before them the sites if several refused the address. */
export function BlockAddress({ address, query }: BlockAddressProps) {
  const t = useT();
  const [opened, setOpened] = useState(false);
  const { isAllowed, running, block } = useProtect(t('blockIPs.fromSecurity'));
  const filters = { ...query.filters, address: [address] };
  const result = useEndpoint(
    statistics.rank,
    { body: { ...query, filters, pageSize: MAX_DOMAINS } },
    { enabled: opened && isAllowed },
  );
  if (!isAllowed) return null;
  return (
    <Menu position="bottom-end" opened={opened} onChange={setOpened}>
      <Menu.Target>
        <Button
          variant="subtle"
          size="compact-xs"
          className={classes['tool'] ?? ''}
          loading={running}
          aria-label={t('blockIPs.blockIP', { ip: address })}
        >
          {t('blockIPs.blockVerb')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown className={classes['sites'] ?? ''}>
        <Await result={result}>
          {({ data }) => (
            <SiteItems sites={sitesOf(data)} block={(site, duration) => void block(site, address, duration)} />
          )}
        </Await>
      </Menu.Dropdown>
    </Menu>
  );
}

interface SiteItemsProps {
  sites: readonly ProtectedSite[];
  block: (site: ProtectedSite, duration: BlockDuration) => void;
}

function SiteItems({ sites, block }: SiteItemsProps) {
  const t = useT();
  const [chosen, setChosen] = useState<ProtectedSite | null>(null);
  const site = chosen ?? (sites.length === 1 ? sites[0] : undefined);
  if (site)
    return (
      <>
        <Menu.Label>{t('blockIPs.blockAt', { site: site.name })}</Menu.Label>
        <BlockItems block={(duration) => block(site, duration)} />
      </>
    );
  return (
    <>
      <Menu.Label>{t(sites.length === 0 ? 'blockIPs.noSite' : 'blockIPs.chooseSite')}</Menu.Label>
      {sites.map((each) => (
        <Menu.Item key={each.id} closeMenuOnClick={false} onClick={() => setChosen(each)}>
          {each.name}
        </Menu.Item>
      ))}
    </>
  );
}

const sitesOf = (domains: readonly { siteID: string | null; siteName: string }[]): ProtectedSite[] =>
  [...new Map(domains.map(({ siteID, siteName }) => [siteID, siteName]))].flatMap(([id, name]) =>
    id === null ? [] : [{ id, name }],
  );
