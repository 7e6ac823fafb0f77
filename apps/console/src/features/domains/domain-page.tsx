import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { ActionIcon, Button } from '@mantine/core';
import { IconEraser, IconPencil, IconPower, IconWorldCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import { useSite } from '../../components/frame/site-scope.ts';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page, useTab } from '../../components/page/page.tsx';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Pill, toneOf } from '../../components/status/status.tsx';
import { Copy } from '../../components/values/copy.tsx';
import { Tags } from '../../components/values/values.tsx';
import { useT, type Word } from '../../lib/i18n.ts';
import { readableName } from '../../lib/readable-name.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useRouteParams } from '../../lib/use-route-params.ts';
import { TagsForm } from './bulk-forms.tsx';
import { CnameResults } from './cname-results.tsx';
import classes from './domains.module.css';
import { HttpsTab } from './https-tab.tsx';
import { isWaiting, NameProof } from './name-proof.tsx';
import type { Domain } from './origins-draft.ts';
import { OriginsTab } from './origins-tab.tsx';
import { useSwitchDomain } from './switch-domains.ts';
import { certNext, cnameNext, isPending } from './waits.ts';

/** A tab of another feature. */
export interface DomainTab {
  value: string;
  label: Word;
  reads: Pick<Endpoint, 'can'>;
  show: (domain: Domain) => ReactNode;
}

/** Poll interval while the domain waits for its CNAME or certificate. */
const PENDING_POLL_MS = 10_000;
const withNext = (state: string, next: string | null) => (next === null ? state : `${state} · ${next}`);

export function DomainPage({ more }: { more: readonly DomainTab[] }) {
  const { id } = useSite();
  const { domainName } = useRouteParams('domainName');
  const found = useEndpoint(
    domains.byName,
    { params: { siteId: id }, query: { domainName } },
    { poll: (domain) => (domain && isPending(domain) ? PENDING_POLL_MS : null) },
  );
  return (
    <Await result={found} page="domains.title">
      {(domain) => <Loaded key={domain.id} domain={domain} more={more} />}
    </Await>
  );
}

function Loaded({ domain, more }: { domain: Domain; more: readonly DomainTab[] }) {
  const t = useT();
  const can = useCan();
  const { id, name, cname } = useSite();
  const overlay = useOverlay();
  const tabs = [
    { value: 'origins', label: 'domains.tabs.origins', count: domain.upstreams.length },
    { value: 'https', label: 'domains.tabs.https' },
    ...more.filter(({ reads }) => can(reads)),
  ] as const;
  const tab = useTab(tabs);
  const { turn, running } = useSwitchDomain(domain);
  const on = domain.status === 1;
  const readable = readableName(domain.name);
  return (
    <Page
      title="domains.title"
      name={domain.name}
      mark={
        <StatusMark
          tone={toneOf('domain', on ? 'on' : 'off')}
          label={t(on ? 'domains.serving' : 'domains.notServing')}
        />
      }
      facts={
        <>
          {readable !== null && <bdi>{readable}</bdi>}
          {isWaiting(domain) && <Pill tone="warn">{t('status.proof.waiting')}</Pill>}
          {!on && !isWaiting(domain) && <Pill tone="off">{t('domains.trouble.off')}</Pill>}
          <Pill tone={toneOf('cname', domain.cnameStatus)}>
            {withNext(t(`domains.cname.${domain.cnameStatus}`), cnameNext(domain))}
          </Pill>
          <Pill tone={toneOf('cert', domain.certStatus)}>
            {withNext(t(`domains.cert.${domain.certStatus}`), certNext(domain))}
          </Pill>
          {cname !== null && <Copy text={cname} />}
          <DomainTags domain={domain} />
        </>
      }
      actions={
        <>
          {cname !== null && can(domains.checkCname) && (
            <Button
              variant="default"
              leftSection={<IconWorldCheck size={15} stroke={1.6} />}
              onClick={() =>
                overlay(<CnameResults siteId={id} cname={cname} rows={[domain]} />, { title: 'domains.bulk.check' })
              }
            >
              {t('domains.bulk.check')}
            </Button>
          )}
          {can(domains.status) && domain.proof === null && (
            <Button
              variant="default"
              loading={running}
              leftSection={<IconPower size={15} stroke={1.6} />}
              onClick={() => void turn(!on)}
            >
              {t(on ? 'common.turnOff' : 'common.turnOn')}
            </Button>
          )}
          {can(purge.urls) && (
            <Button
              component={Link}
              to={siteAddress({ id, name }, 'cache', 'purge')}
              variant="default"
              leftSection={<IconEraser size={15} stroke={1.6} />}
            >
              {t('domains.purge')}
            </Button>
          )}
        </>
      }
      tabs={tabs}
    >
      <NameProof domain={domain} />
      {tab === 'origins' && <OriginsTab domain={domain} />}
      {tab === 'https' && <HttpsTab domain={domain} />}
      {more.find(({ value }) => value === tab)?.show(domain)}
    </Page>
  );
}

function DomainTags({ domain }: { domain: Domain }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const { siteID: siteId } = domain;
  return (
    <span className={classes['tags']}>
      {domain.tags.length > 0 && <Tags of={domain.tags} />}
      {can(domains.setTags) && (
        <ActionIcon
          size={20}
          aria-label={t('domains.editTags')}
          title={t('domains.editTags')}
          onClick={() => overlay(<TagsForm siteId={siteId} rows={[domain]} />, { title: 'domains.editTags' })}
        >
          <IconPencil size={14} stroke={1.6} />
        </ActionIcon>
      )}
    </span>
  );
}
