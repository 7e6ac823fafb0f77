import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { cardTypes } from '@edgeloom/contract/statistics/statistics.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { ActionIcon, Button } from '@mantine/core';
import { IconCopyPlus, IconPencil } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { KnownTagsField } from '../../components/fields/tags-field.tsx';
import { useSite } from '../../components/frame/site-scope.ts';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Page } from '../../components/page/page.tsx';
import { Section } from '../../components/page/section.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { Status } from '../../components/status/status.tsx';
import { Copy } from '../../components/values/copy.tsx';
import { Bits, Bytes, Tags, Time } from '../../components/values/values.tsx';
import { count } from '../../lib/format.ts';
import { t, useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { CopySettingsForm } from '../copies/copy-forms.tsx';
import { AssignedUsers } from './assigned-users.tsx';
import { LogMasks } from './log-masks.tsx';
import classes from './sites.module.css';

type SiteInfo = Received<typeof sites.get>;

/** Overview of a site: state, cache usage, CNAME. */
export function OverviewPage() {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const { id } = useSite();
  const found = useEndpoint(sites.get, { params: { siteId: id } }, { pollMs: 10_000 });
  const copy = can(copies.settings) && (
    <Button
      variant="default"
      leftSection={<IconCopyPlus size={15} stroke={1.8} />}
      onClick={() => overlay(<CopySettingsForm siteId={id} />, { title: 'copies.settings' })}
    >
      {t('copies.title')}
    </Button>
  );
  return (
    <Page title="sites.overview.title" actions={copy}>
      <Await result={found}>{(site) => <Overview site={site} />}</Await>
    </Page>
  );
}

function Overview({ site }: { site: SiteInfo }) {
  const t = useT();
  const on = count(site.enabledDomainCount);
  const all = count(site.domainCount);
  return (
    <>
      <div className={classes['strip']}>
        <Link className={classes['card'] ?? ''} to={siteAddress(site, 'domains')}>
          <div className={classes['label']}>{t('sites.overview.domains')}</div>
          <div className={classes['number']}>{all}</div>
          <div className={classes['sub']}>
            {site.domainLimit === 0
              ? t('sites.overview.domainsOn', { on, count: all })
              : t('sites.overview.domainsLimit', { on, count: all, limit: count(site.domainLimit) })}
          </div>
        </Link>
        <CnameStates site={site} />
        <Link className={classes['card'] ?? ''} to={siteAddress(site, 'cache')}>
          <div className={classes['label']}>{t('sites.overview.cacheRules')}</div>
          <div className={classes['number']}>{count(site.cacheRuleCount)}</div>
        </Link>
        <Link className={classes['card'] ?? ''} to={siteAddress(site, 'cache', 'purge')}>
          <div className={classes['label']}>{t('sites.overview.purges')}</div>
          <div className={classes['number']}>{count(site.cacheVersion)}</div>
        </Link>
      </div>
      <Section title="sites.overview.state" why="sites.overview.stateWhy">
        <Status
          kind="site"
          value={site.status}
          why={
            site.publishError === null
              ? null
              : t('sites.notPublishedWhy', { error: t(`sites.publishError.${site.publishError}`) })
          }
        />
      </Section>
      <Section title="sites.overview.reach" why="sites.overview.reachWhy">
        <Facts>
          <Fact term={t('sites.overview.cname')} wide>
            {site.cname === null ? t('sites.overview.noCname') : <Copy text={site.cname} />}
          </Fact>
          {site.ports.map(({ port, tls }) => (
            <Fact key={port} term={tls ? 'HTTPS' : 'HTTP'}>
              {port}
            </Fact>
          ))}
        </Facts>
      </Section>
      <Section title="sites.overview.limits" why="sites.overview.limitsWhy">
        <Facts>
          <Fact term={t('sites.overview.domains')}>
            <Used of={site.domainCount} limit={limitOf(site, 'domainLimit')} />
          </Fact>
          <Fact term={t('sites.overview.forwards')}>
            <Used of={site.portCount} limit={limitOf(site, 'portLimit')} />
          </Fact>
          <Fact term={t('sites.overview.autoCertificates')}>
            <Used of={site.autoCertificateCount} limit={limitOf(site, 'autoCertificateLimit')} />
          </Fact>
          <Fact term={t('sites.overview.connections')}>{limitOf(site, 'maxConnections')}</Fact>
          <Fact term={t('sites.overview.responseRate')}>{limitOf(site, 'responseMbps', ' Mbit/s')}</Fact>
          <TrafficFacts site={site} />
        </Facts>
      </Section>
      <AssignedUsers siteId={site.id} />
      <Section title="sites.overview.contents">
        <Facts>
          <Fact term={t('sites.overview.product')}>{site.productName}</Fact>
          <Fact term={t('common.fields.tags')}>
            <SiteTags site={site} />
          </Fact>
          <Fact term={t('sites.overview.minTLS')}>{t(`domains.choices.minTLS.${site.minTLS}`)}</Fact>
          <Fact term={t('sites.overview.logs')}>
            <LogMasks siteId={site.id} />
          </Fact>
          <Fact term={t('common.fields.expiry')}>
            <Time at={site.expiry} />
          </Fact>
          <Fact term={t('common.fields.createdAt')}>
            <Time at={site.createdAt} />
          </Fact>
          <Fact term={t('sites.overview.id')} wide>
            <Copy text={site.id} />
          </Fact>
        </Facts>
      </Section>
    </>
  );
}

/** Traffic and 95th-percentile bandwidth of the last 30 days. */
function TrafficFacts({ site }: { site: SiteInfo }) {
  const t = useT();
  const can = useCan();
  const body = { siteIDs: [site.id], timeInterval: 'thirtyDays' as const };
  const cards = useEndpoint(statistics.cards, { body }, { enabled: can(statistics.cards), pollMs: 300_000 });
  if (!can(statistics.cards)) return null;
  const bandwidth = cards.data?.data.find(({ type }) => type === cardTypes.bandwidth95)?.value;
  return (
    <>
      <Fact term={t('sites.overview.traffic')}>
        <Bytes of={site.traffic} />
      </Fact>
      <Fact term={t('sites.overview.percentile')}>
        <Bits of={bandwidth} />
      </Fact>
    </>
  );
}

/** Number of domains that wait for their CNAME, and of those without one after an hour. */
function CnameStates({ site }: { site: SiteInfo }) {
  const t = useT();
  const can = useCan();
  const states = ['pendingCheck', 'inactive'] as const;
  const options = { enabled: can(domains.list), pollMs: 30_000 };
  const sent = (state: (typeof states)[number]) => ({
    params: { siteId: site.id },
    query: { cnameStatuses: [state], enabled: true, pageSize: 1 },
  });
  const totals = {
    pendingCheck: useEndpoint(domains.list, sent('pendingCheck'), options).data?.total ?? 0,
    inactive: useEndpoint(domains.list, sent('inactive'), options).data?.total ?? 0,
  };
  const shown = states.filter((state) => totals[state] > 0);
  if (shown.length === 0) return null;
  return (
    <div className={classes['card']}>
      <div className={classes['label']}>{t('domains.fields.cnameStatus')}</div>
      {shown.map((state) => (
        <Link key={state} to={`${siteAddress(site, 'domains')}&cnameStatuses=${state}&enabled=true`}>
          <Status kind="cname" value={state} text={t(`domains.waits.${state}`, { count: totals[state] })} />
        </Link>
      ))}
    </div>
  );
}

function Used({ of, limit }: { of: number; limit: string }) {
  const t = useT();
  return t('sites.overview.used', { count: count(of), limit });
}

/** A limit, and whether it is the product's or the site's own. */
function limitOf(site: SiteInfo, name: keyof SiteInfo['ownLimits'], unit = '') {
  const value = site[name];
  const limit = value === 0 ? t('common.unlimited') : t('sites.overview.limit', { limit: `${count(value)}${unit}` });
  return t(site.ownLimits[name] === null ? 'sites.overview.ofProduct' : 'sites.overview.ownLimit', { limit });
}

function SiteTags({ site }: { site: SiteInfo }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  return (
    <span className={classes['tags']}>
      <Tags of={site.tags} />
      {can(sites.setTags) && (
        <ActionIcon
          size={20}
          aria-label={t('sites.overview.editTags')}
          title={t('sites.overview.editTags')}
          onClick={() => overlay(<TagsForm site={site} />, { title: 'sites.overview.editTags' })}
        >
          <IconPencil size={14} stroke={1.6} />
        </ActionIcon>
      )}
    </span>
  );
}

function TagsForm({ site }: { site: SiteInfo }) {
  return (
    <ResourceForm update={sites.setTags} params={{ siteId: site.id }} value={{ tags: site.tags }}>
      <KnownTagsField name="tags" meta={sites.tagsInUse} />
    </ResourceForm>
  );
}
