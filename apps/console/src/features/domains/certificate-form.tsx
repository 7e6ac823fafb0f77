import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { useSite, type SiteInfo } from '../../components/frame/site-scope.ts';
import { useOverlay, useOverlayClose } from '../../components/overlay/overlay.tsx';
import { Status } from '../../components/status/status.tsx';
import { useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { useNames } from '../../lib/use-meta.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { CertificateStep, useCoverage, type CertificateChoice } from './certificate-step.tsx';
import classes from './domains.module.css';
import type { Domain } from './origins-draft.ts';
import { certNext } from './waits.ts';

/** The domain's certificate, and how to change it. */
export function DomainCertificate({ domain }: { domain: Domain }) {
  const t = useT();
  const can = useCan();
  const site = useSite();
  const overlay = useOverlay();
  const ids = domain.certificateID === null ? [] : [domain.certificateID];
  const [known] = useNames(can(certificates.meta) ? certificates.meta : undefined, ids, { siteId: site.id });
  const name = known?.label;
  return (
    <div className={classes['certificate']}>
      <Status kind="cert" value={domain.certStatus} why={certNext(domain)} />
      {name !== undefined && <Link to={siteAddress(site, 'certs')}>{name}</Link>}
      {(can(certificates.assign) || can(certificates.autoSSL)) && (
        <Button
          size="xs"
          variant="default"
          onClick={() =>
            overlay(<CertificateForm site={site} domain={domain} />, { title: 'domains.https.changeCertificate' })
          }
        >
          {t('domains.https.changeCertificate')}
        </Button>
      )}
    </div>
  );
}

interface FormProps {
  site: SiteInfo;
  domain: Domain;
}

function CertificateForm({ site, domain: { id, siteID: siteId, name, certificateID } }: FormProps) {
  const t = useT();
  const close = useOverlayClose();
  const names = [name];
  const coverage = useCoverage(site, names);
  const [choice, setChoice] = useState<CertificateChoice | null>(null);
  const order = useAction(certificates.autoSSL, { refreshes: ['domains', 'jobs'], done: 'certificates.ordered' });
  const assign = useAction(certificates.assign, { refreshes: ['domains'], done: 'common.saved' });
  const value: CertificateChoice =
    choice ??
    (certificateID !== null
      ? { kind: 'existing', id: certificateID }
      : coverage.orderable.length > 0
        ? { kind: 'automatic' }
        : { kind: 'none' });
  const give = (certId: string, assigned: boolean) =>
    assign.run({ params: { siteId, certId }, body: { domainIDs: [id], assigned } });
  const save = () => {
    if (value.kind === 'automatic') return order.run({ params: { siteId }, body: { ids: [id] } });
    if (value.kind === 'existing') return value.id === null ? null : give(value.id, true);
    return certificateID === null ? true : give(certificateID, false);
  };
  return (
    <form
      className={classes['certificateForm']}
      onSubmit={(event) => {
        event.preventDefault();
        void Promise.resolve(save()).then((done) => done !== null && close());
      }}
    >
      <CertificateStep value={value} names={names} coverage={coverage} error={undefined} onChange={setChoice} />
      <div className="dialog-buttons">
        <Button variant="default" onClick={close}>
          {t('common.cancel')}
        </Button>
        <Button type="submit" loading={order.running || assign.running}>
          {t('common.save')}
        </Button>
      </div>
    </form>
  );
}
