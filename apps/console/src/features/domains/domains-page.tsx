import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { Button, Switch } from '@mantine/core';
import { IconArrowsExchange, IconCopyPlus, IconPlus, IconWorldWww } from '@tabler/icons-react';
import { useMemo } from 'react';
import { Link } from 'react-router-dom';
import { useSite } from '../../components/frame/site-scope.ts';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page, useTab } from '../../components/page/page.tsx';
import { go, open } from '../../components/resource-table/actions.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill } from '../../components/status/status.tsx';
import { count } from '../../lib/format.ts';
import { t, useT } from '../../lib/i18n.ts';
import { domainAddress, siteAddress } from '../../lib/site-address.ts';
import { mayChangeDomains } from '../../lib/site-features.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { AddDomainsPage } from './add-domains-page.tsx';
import { Below, cert, cname, domainName, filters, force, origins, tags, traffic, updated } from './domain-columns.tsx';
import { CloneForm, SwapForm } from './bulk-forms.tsx';
import { removing, useBulkActions } from './bulk-actions.tsx';
import { isWaiting, WaitingForProof } from './name-proof.tsx';
import type { Domain } from './origins-draft.ts';
import { off, on, useSwitchDomain } from './switch-domains.ts';

const tabs = [{ value: 'list' }, { value: 'new' }] as const;

/** Domains of one site; `tab=new` adds some. */
export const DomainsPage = () => (useTab(tabs) === 'new' ? <AddDomainsPage /> : <DomainList />);

function DomainList() {
  const site = useSite();
  const { id, name, domainLimit: limit, domainCount } = site;
  const left = limit === 0 ? null : Math.max(0, limit - domainCount);
  const known = useEndpoint(domains.tags, { params: { siteId: id }, query: { pageSize: 1 } }).data?.data ?? [];
  const bulk = useBulkActions(site);
  const can = useCan();
  const overlay = useOverlay();
  const columns = useMemo<Column<Domain>[]>(
    () => [
      { ...domainName, to: (domain) => domainAddress({ id, name }, domain.name) },
      {
        key: 'status',
        sort: false,
        render: (domain) => <OnOff domain={domain} />,
        text: (domain) =>
          isWaiting(domain) ? t('status.proof.waiting') : t(domain.status === 1 ? 'common.on' : 'common.off'),
      },
      cname,
      cert,
      force,
      origins,
      traffic,
      tags,
      updated,
    ],
    [id, name],
  );
  return (
    <Page
      title="domains.title"
      facts={mayChangeDomains(site) ? left !== null && left <= limit * 0.2 && <Left count={left} /> : <Locked />}
      actions={
        <>
          {can(domains.swapAddress) && (
            <Button
              variant="default"
              leftSection={<IconArrowsExchange size={15} stroke={1.6} />}
              onClick={() => overlay(<SwapForm siteId={id} />, { title: 'domains.bulk.swapAll' })}
            >
              {t('domains.bulk.swap')}
            </Button>
          )}
          {/* At the limit, a text replaces the add button. */}
          {left !== 0 && mayChangeDomains(site) && <Add />}
        </>
      }
    >
      <ResourceTable
        endpoint={domains.list}
        params={{ siteId: id }}
        columns={columns}
        search="keywords"
        filters={[
          ...filters,
          ...(can(certificates.meta)
            ? [{ key: 'certificateID', meta: certificates.meta, params: { siteId: id } }]
            : []),
          ...(known.length > 0 ? [{ key: 'tags', meta: domains.tags, params: { siteId: id }, many: true }] : []),
        ]}
        counted={(total) =>
          limit === 0
            ? t('domains.count', { count: total })
            : t('domains.countOf', { count: count(total), limit: count(limit) })
        }
        row={(domain) => [
          go({ label: 'domains.open', to: domainAddress({ id, name }, domain.name) }),
          ...(isWaiting(domain) ? [] : [domain.status === 1 ? off : on]),
          ...(mayChangeDomains(site)
            ? [
                open({
                  label: 'domains.clone',
                  icon: IconCopyPlus,
                  element: <CloneForm domain={domain} />,
                  can: domains.createFrom.can,
                }),
                removing,
              ]
            : []),
        ]}
        bulk={bulk}
        pollMs={30_000}
        phone={(domain) => ({ below: <Below domain={domain} />, end: <OnOff domain={domain} /> })}
        empty={{ icon: IconWorldWww, action: mayChangeDomains(site) && <Add /> }}
      />
    </Page>
  );
}

function Locked() {
  const t = useT();
  return <Pill tone="held">{t('domains.locked')}</Pill>;
}

function Left({ count: left }: { count: number }) {
  const t = useT();
  return (
    <Pill tone={left === 0 ? 'bad' : 'warn'}>
      {left === 0 ? t('domains.limit.full') : t('domains.limit.near', { count: left })}
    </Pill>
  );
}

const OnOff = ({ domain }: { domain: Domain }) =>
  isWaiting(domain) ? <WaitingForProof domain={domain} /> : <DomainSwitch domain={domain} />;

function DomainSwitch({ domain }: { domain: Domain }) {
  const t = useT();
  const can = useCan();
  const { turn, running } = useSwitchDomain(domain);
  return (
    <Switch
      aria-label={t('domains.switchLabel', { name: domain.name })}
      checked={domain.status === 1}
      disabled={running || !can(domains.status)}
      onChange={(event) => void turn(event.currentTarget.checked)}
    />
  );
}

function Add() {
  const t = useT();
  const can = useCan();
  const site = useSite();
  if (!can(domains.createSimple)) return null;
  return (
    <Button
      component={Link}
      to={siteAddress(site, 'domains', 'new')}
      data-main-action
      leftSection={<IconPlus size={15} stroke={1.8} />}
    >
      {t('domains.create')}
    </Button>
  );
}
