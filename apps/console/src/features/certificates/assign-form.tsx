import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { covers } from '@edgeloom/contract/certificates/certificates.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { MetaMultiSelect } from '../../components/fields/meta-select.tsx';
import { useOverlayClose } from '../../components/overlay/overlay.tsx';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { useMetaSearch } from '../../lib/use-meta.ts';
import classes from './certificates.module.css';
import { DomainsLink } from './domains-link.tsx';

interface AssignProps {
  site: { id: string; name: string };
  certId: string;
}

export function AssignForm({ site, certId }: AssignProps) {
  const found = useEndpoint(certificates.get, { params: { siteId: site.id, certId } });
  return <Await result={found}>{(certificate) => <Loaded site={site} certificate={certificate} />}</Await>;
}

/** Selects the domains that use the certificate. Only domains that it covers can be selected. */
function Loaded({ site, certificate }: Pick<AssignProps, 'site'> & { certificate: Received<typeof certificates.get> }) {
  const t = useT();
  const siteId = site.id;
  const more = certificate.inUse - certificate.domains.length;
  const close = useOverlayClose();
  const before = certificate.domains.map(({ id }) => id);
  const [chosen, setChosen] = useState(before);
  const known = certificate.domains.map(({ id, name }) => ({ value: id, label: name }));
  const choices = useMetaSearch(domains.meta, { params: { siteId }, chosen, known });
  const { run, running } = useAction(certificates.assign, { refreshes: ['domains'], done: 'common.saved' });
  const params = { siteId, certId: certificate.id };
  const submit = async () => {
    const added = chosen.filter((id) => !before.includes(id));
    const taken = before.filter((id) => !chosen.includes(id));
    if (added.length > 0 && !(await run({ params, body: { domainIDs: added } }))) return;
    if (taken.length > 0 && !(await run({ params, body: { domainIDs: taken, assigned: false } }))) return;
    close();
  };
  return (
    <form
      className={classes['assign']}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <MetaMultiSelect
        label={t('certificates.fields.domains')}
        description={t('certificates.coveredOnly')}
        choices={choices}
        isOffered={({ label }) => covers(certificate.names, label)}
        maxValues={Infinity}
        value={chosen}
        onChange={setChosen}
        clearButtonProps={{ 'aria-label': t('certificates.clear') }}
      />
      {more > 0 && (
        <p>
          {t('certificates.moreDomains', { count: more })}{' '}
          <DomainsLink site={site} certId={certificate.id} count={certificate.inUse} />
        </p>
      )}
      <div className="dialog-buttons">
        <Button variant="default" onClick={close}>
          {t('common.cancel')}
        </Button>
        <Button type="submit" loading={running} disabled={certificate.pairs.length === 0}>
          {t('common.save')}
        </Button>
      </div>
    </form>
  );
}
