import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { covers } from '@edgeloom/contract/certificates/certificates.ts';
import { siteDns } from '@edgeloom/contract/site-dns/site-dns.endpoints.ts';
import { Radio, Select } from '@mantine/core';
import { Link } from 'react-router-dom';
import { useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './add-domains.module.css';

/** `none`: HTTPS is not served yet. */
export type CertificateChoice = { kind: 'automatic' } | { kind: 'existing'; id: string | null } | { kind: 'none' };

/** Maximum length of a certificate's common name. */
const NAME_AT_MOST = 64;
/** Certificates are ranked by this many names. For longer lists the ranking is an estimate. */
const COMPARED = 5000;

interface Place {
  id: string;
  name: string;
}

/** Finds the names for which a certificate can be ordered, and the certificates that cover some names. */
export function useCoverage(site: Place, names: readonly string[], isAsked = true) {
  const can = useCan();
  const params = { siteId: site.id };
  const mayOrder = can(certificates.autoSSL);
  const mayAssign = can(certificates.assign) && can(certificates.covering);
  const accounts = useEndpoint(
    siteDns.list,
    { params, query: { pageSize: 500 } },
    { enabled: can(siteDns.list) && names.some((name) => name.startsWith('*.')) },
  );
  const known = useEndpoint(
    certificates.covering,
    { params, body: { names: names.slice(0, COMPARED) } },
    { enabled: isAsked && mayAssign && names.length > 0 },
  );
  const zones = (accounts.data?.data ?? []).flatMap(({ domains }) => domains);
  const isUnder = (name: string) => zones.some((zone) => name.endsWith(`.${zone}`));
  // Nodes validate names by HTTP; wildcards need a DNS account.
  const orderable = names.filter((name) => name.length <= NAME_AT_MOST && (!name.startsWith('*.') || isUnder(name)));
  const fitting = (known.data?.data ?? []).map((certificate) => ({
    ...certificate,
    covered: names.filter((name) => covers(certificate.names, name)),
  }));
  const more = (known.data?.total ?? 0) - fitting.length;
  return { orderable: mayOrder ? orderable : [], fitting, more, mayOrder, mayAssign, site };
}

interface CertificateStepProps {
  value: CertificateChoice;
  names: readonly string[];
  coverage: ReturnType<typeof useCoverage>;
  error: string | undefined;
  onChange: (value: CertificateChoice) => void;
}

/** Selects the certificate of new domains. */
export function CertificateStep({ value, names, coverage, error, onChange }: CertificateStepProps) {
  const t = useT();
  const { orderable, fitting, more, mayOrder, mayAssign, site } = coverage;
  const left = names.length - orderable.length;
  const chosen = value.kind === 'existing' ? fitting.find(({ id }) => id === value.id) : undefined;
  return (
    <Radio.Group
      className={classes['choices'] ?? ''}
      label={t('domains.add.certificateLabel')}
      value={value.kind}
      onChange={(kind) =>
        onChange(
          kind === 'automatic'
            ? { kind }
            : kind === 'existing'
              ? { kind, id: fitting[0]?.id ?? null }
              : { kind: 'none' },
        )
      }
    >
      <div className={classes['choiceList']}>
        <Radio
          value="automatic"
          label={t('domains.add.automatic')}
          disabled={orderable.length === 0}
          description={
            !mayOrder
              ? t('domains.add.automaticDenied')
              : orderable.length === 0
                ? t('domains.add.automaticNone')
                : left > 0
                  ? t('domains.add.automaticSome', { count: left })
                  : t('domains.add.automaticWhy')
          }
        />
        <Radio
          value="existing"
          label={t('domains.add.existing')}
          disabled={!mayAssign || fitting.length === 0}
          description={fitting.length === 0 ? t('domains.add.existingNone') : t('domains.add.existingWhy')}
        />
        {value.kind === 'existing' && (
          <Select
            className={classes['existing'] ?? ''}
            aria-label={t('domains.add.existing')}
            data={fitting.map(({ id, name, covered }) => ({
              value: id,
              label: t('domains.add.covers', { name, count: covered.length, all: names.length }),
            }))}
            value={value.id}
            error={error}
            searchable
            allowDeselect={false}
            onChange={(id) => onChange({ kind: 'existing', id })}
          />
        )}
        {value.kind === 'existing' && more > 0 && (
          <p className={classes['probe']}>
            {t('domains.add.moreCertificates', { count: more })}{' '}
            <Link to={siteAddress(site, 'certs')}>{t('certificates.title')}</Link>
          </p>
        )}
        {chosen && chosen.covered.length < names.length && (
          <p className={classes['probe']}>
            {t('domains.add.uncovered', { count: names.length - chosen.covered.length })}
          </p>
        )}
        <Radio value="none" label={t('domains.add.later')} description={t('domains.add.laterWhy')} />
      </div>
    </Radio.Group>
  );
}
