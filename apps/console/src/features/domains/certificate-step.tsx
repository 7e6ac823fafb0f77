import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { covers } from '@edgeloom/contract/certificates/certificates.ts';
import { siteDns } from '@edgeloom/contract/site-dns/site-dns.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Radio, Select } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from 'react-router-dom';
import { call } from '../../lib/api.ts';
import { useT } from '../../lib/i18n.ts';
import { keyOf } from '../../lib/queries.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { mayOrderCertificates } from '../../lib/site-features.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './add-domains.module.css';

/** `none`: HTTPS is not served yet. */
export type CertificateChoice = { kind: 'automatic' } | { kind: 'existing'; id: string | null } | { kind: 'none' };

/** Maximum length of a certificate's common name. */
const NAME_AT_MOST = 64;
/** Maximum per call. */
const MAX_NAMES = 5000;

/** The certificates that cover most names of a batch, and the number of others that cover some names. */
async function coveringOf(siteId: string, names: readonly string[], signal: AbortSignal) {
  const best = new Map<string, Received<typeof certificates.covering>['data'][number]>();
  const known = new Set<string>();
  for (let from = 0; from < names.length; from += MAX_NAMES) {
    const body = { names: names.slice(from, from + MAX_NAMES) };
    const { data, others } = await call(certificates.covering, { params: { siteId }, body }, { signal });
    for (const certificate of data) best.set(certificate.id, certificate);
    for (const id of [...best.keys(), ...others]) known.add(id);
  }
  return { best: [...best.values()], more: known.size - best.size };
}

interface Place {
  id: string;
  name: string;
  autoSSL: boolean;
}

/** Finds the names for which a certificate can be ordered, and the certificates that cover some names. */
export function useCoverage(site: Place, names: readonly string[], isAsked = true) {
  const can = useCan();
  const params = { siteId: site.id };
  const mayOrder = can(certificates.autoSSL) && mayOrderCertificates(site);
  const mayAssign = can(certificates.assign) && can(certificates.covering);
  const accounts = useEndpoint(
    siteDns.list,
    { params, query: { pageSize: 500 } },
    { enabled: can(siteDns.list) && names.some((name) => name.startsWith('*.')) },
  );
  const covering = useQuery({
    queryKey: keyOf(certificates.covering, { params, names }),
    queryFn: ({ signal }) => coveringOf(site.id, names, signal),
    enabled: isAsked && mayAssign && names.length > 0,
    placeholderData: keepPreviousData,
  });
  const zones = (accounts.data?.data ?? []).flatMap(({ domains }) => domains);
  const isUnder = (name: string) => zones.some((zone) => name.endsWith(`.${zone}`));
  // Nodes validate names by HTTP; wildcards need a DNS account.
  const orderable = names.filter((name) => name.length <= NAME_AT_MOST && (!name.startsWith('*.') || isUnder(name)));
  const fitting = (covering.data?.best ?? [])
    .map((certificate) => ({ ...certificate, covered: names.filter((name) => covers(certificate.names, name)) }))
    .toSorted((a, b) => b.covered.length - a.covered.length);
  const more = covering.data?.more ?? 0;
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
