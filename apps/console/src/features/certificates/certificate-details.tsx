import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { SignedUpdate } from '@edgeloom/contract/certificates/certificates.ts';
import { Button } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { CodeBox } from '../../components/values/code-box.tsx';
import { Nothing, Time } from '../../components/values/values.tsx';
import { useT } from '../../lib/i18n.ts';
import { mayOrderCertificates } from '../../lib/site-features.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { CertificateState } from './certificate-state.tsx';
import classes from './certificates.module.css';
import { useOfferMatches } from './match-offer.tsx';
import { PemField } from './pem-field.tsx';
import { ReplaceForm, type Info } from './replace-form.tsx';
import { DomainsLink } from './domains-link.tsx';
import { Timeline } from './timeline.tsx';

interface DetailsProps {
  site: { id: string; name: string; autoSSL: boolean };
  certId: string;
}
interface Place {
  siteId: string;
  certId: string;
}
const pollMsOf = (info: Info | undefined) => (info?.status === 'processing' ? 2000 : 15_000);

/** One certificate: what is served, what is pending, and its events. */
export function CertificateDetails({ site, certId }: DetailsProps) {
  const params = { siteId: site.id, certId };
  const found = useEndpoint(certificates.get, { params }, { poll: pollMsOf });
  return <Await result={found}>{(info) => <Loaded info={info} params={params} site={site} />}</Await>;
}

function Loaded({ info, params, site }: { info: Info; params: Place; site: DetailsProps['site'] }) {
  const t = useT();
  return (
    <div className={classes['details']}>
      <Facts>
        <Fact term={t('certificates.fields.status')}>
          <CertificateState of={{ ...info, error: null }} />
        </Fact>
        <Fact term={t('certificates.fields.type')}>{t(`certificates.choices.type.${info.type}`)}</Fact>
        <Fact term={t('certificates.fields.issuer')}>{info.issuer ?? <Nothing />}</Fact>
        <Fact term={t('certificates.fields.expiry')}>
          <Time at={info.expiry} />
        </Fact>
        <Fact term={t('certificates.fields.inUse')}>
          <DomainsLink site={site} certId={info.id} count={info.inUse} />
        </Fact>
        {info.type === 'automatic' && (
          <Fact term={t('certificates.fields.nextAt')}>
            <Time at={info.nextAt} />
          </Fact>
        )}
        <Fact term={t('certificates.fields.names')} wide>
          <span className={classes['names']}>{info.names.join('  ')}</span>
        </Fact>
        {info.pairs.map(({ keyType, fingerprint }) => (
          <Fact key={keyType} term={`${keyType.toUpperCase()} SHA-256`} wide>
            <span className={classes['mono']}>{fingerprint}</span>
          </Fact>
        ))}
      </Facts>
      {info.csrPem !== null && <Request pem={info.csrPem} params={params} />}
      {info.type === 'automatic' && mayOrderCertificates(site) && <OrderAgain info={info} params={params} />}
      {info.type !== 'automatic' && <Replace info={info} params={params} />}
      <h3>{t('certificates.timeline')}</h3>
      <Timeline params={params} pollMs={pollMsOf(info)} />
    </div>
  );
}

function Request({ pem, params }: { pem: string; params: Place }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  return (
    <section>
      <h3>{t('certificates.request')}</h3>
      <p>{t('certificates.requestWhy')}</p>
      <CodeBox text={pem} />
      {can(certificates.update) && (
        <div>
          <Button onClick={() => overlay(<SignedForm params={params} />, { title: 'certificates.bring' })}>
            {t('certificates.bring')}
          </Button>
        </div>
      )}
    </section>
  );
}

function SignedForm({ params }: { params: Place }) {
  const offer = useOfferMatches(params.siteId);
  return (
    <ResourceForm
      update={certificates.update}
      params={{ ...params }}
      value={{}}
      schema={SignedUpdate}
      initial={{ alongside: false }}
      wrap={(values) => ({ ...values, source: 'signed' })}
      refreshes={['domains']}
      onDone={(reply) => void offer(reply)}
    >
      <PemField name="chainPem" />
    </ResourceForm>
  );
}

function OrderAgain({ info, params }: { info: Info; params: Place }) {
  const t = useT();
  const can = useCan();
  const { run, running } = useAction(certificates.update, { refreshes: ['domains'], done: 'certificates.ordered' });
  if (!can(certificates.update) || info.status === 'processing') return null;
  const order = () =>
    run({ params: { ...params }, body: { source: 'automatic', names: info.names, keyTypes: info.keyTypes } });
  return (
    <div>
      <Button
        variant="default"
        loading={running}
        leftSection={<IconRefresh size={15} stroke={1.6} />}
        onClick={() => void order()}
      >
        {t('certificates.orderNow')}
      </Button>
    </div>
  );
}

function Replace({ info, params }: { info: Info; params: Place }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  if (!can(certificates.update)) return null;
  return (
    <div>
      <Button
        variant="default"
        onClick={() => overlay(<ReplaceForm info={info} params={params} />, { title: 'certificates.replace' })}
      >
        {t('certificates.replace')}
      </Button>
    </div>
  );
}
