import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { covers } from '@edgeloom/contract/certificates/certificates.ts';
import { siteDns } from '@edgeloom/contract/site-dns/site-dns.endpoints.ts';
import { Radio, Select } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './add-domains.module.css';

/** `none`: HTTPS is not served yet. */
export type CertificateChoice = { kind: 'automatic' } | { kind: 'existing'; id: string | null } | { kind: 'none' };

/** Maximum length of a certificate's common name. */
const NAME_AT_MOST = 64;

/** Names for which a certificate can be ordered, and existing certificates that cover some names. */
export function useCoverage(siteId: string, names: readonly string[]) {
  const can = useCan();
  const params = { siteId };
  const mayOrder = can(certificates.autoSSL);
  const mayAssign = can(certificates.assign) && can(certificates.meta);
  const accounts = useEndpoint(
    siteDns.list,
    { params, query: { pageSize: 500 } },
    { enabled: can(siteDns.list) && names.some((name) => name.startsWith('*.')) },
  );
  const known = useEndpoint(certificates.meta, { params }, { enabled: mayAssign });
  const zones = (accounts.data?.data ?? []).flatMap(({ domains }) => domains);
  const isUnder = (name: string) => zones.some((zone) => name.endsWith(`.${zone}`));
  // Nodes validate names by HTTP; wildcards need a DNS account.
  const orderable = names.filter((name) => name.length <= NAME_AT_MOST && (!name.startsWith('*.') || isUnder(name)));
  const fitting = (known.data?.data ?? [])
    .map((certificate) => ({ ...certificate, covered: names.filter((name) => covers(certificate.names, name)) }))
    .filter(({ covered }) => covered.length > 0);
  return { orderable: mayOrder ? orderable : [], fitting, mayOrder, mayAssign };
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
  const { orderable, fitting, mayOrder, mayAssign } = coverage;
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
