// Adds an address of the security page to the block list of a site that refused its requests.
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { Button, Menu } from '@mantine/core';
import { useState } from 'react';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { BlockItems } from '../block-ips/block-items.tsx';
import { isNeverBlocked, useAddressLists, type BlockDuration, type SiteRef } from '../block-ips/use-address-lists.ts';
import type { Statistics } from './use-statistics.ts';
import classes from './statistics.module.css';

/** The API ranks domains by requests, and the sites are those of the first ones. */
const MAX_DOMAINS = 500;

interface BlockAddressProps {
  address: string;
  /** Selects the refused requests. */
  query: Statistics['query'];
}

/** A menu of durations. If several sites refused the address, the reader chooses one of them first. */
export function BlockAddress({ address, query }: BlockAddressProps) {
  const t = useT();
  const [opened, setOpened] = useState(false);
  const { canBlock, isPending, block } = useAddressLists(t('blockIPs.fromSecurity'));
  const filters = { ...query.filters, address: [address] };
  const result = useEndpoint(
    statistics.rank,
    { body: { ...query, filters, pageSize: MAX_DOMAINS } },
    { enabled: opened && canBlock },
  );
  if (!canBlock || isNeverBlocked(address)) return null;
  return (
    <Menu position="bottom-end" opened={opened} onChange={setOpened}>
      <Menu.Target>
        <Button
          variant="subtle"
          size="compact-xs"
          className={classes['tool'] ?? ''}
          loading={isPending}
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
  sites: readonly SiteRef[];
  block: (site: SiteRef, duration: BlockDuration) => void;
}

function SiteItems({ sites, block }: SiteItemsProps) {
  const t = useT();
  const [chosen, setChosen] = useState<SiteRef | null>(null);
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

const sitesOf = (domains: readonly { siteID: string | null; siteName: string }[]): SiteRef[] =>
  [...new Map(domains.map(({ siteID, siteName }) => [siteID, siteName]))].flatMap(([id, name]) =>
    id === null ? [] : [{ id, name }],
  );
