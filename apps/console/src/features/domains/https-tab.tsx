import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { Checkbox, Select, Switch } from '@mantine/core';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { Section } from '../../components/page/section.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { DomainCertificate } from './certificate-form.tsx';
import classes from './domains.module.css';
import type { Domain } from './origins-draft.ts';

const DAY_SECONDS = 86_400;
const YEAR_SECONDS = 365 * DAY_SECONDS;
/** Five minutes for a trial, because HSTS cannot be revoked earlier. */
const ages = [0, 300, DAY_SECONDS, 30 * DAY_SECONDS, 180 * DAY_SECONDS, YEAR_SECONDS, 2 * YEAR_SECONDS];

/** TLS settings for visitors and origins. */
export function HttpsTab({ domain }: { domain: Domain }) {
  const t = useT();
  const can = useCan();
  const { scheme, portMap, forceSSL, hsts, minTLS, originVerify, originCertificateID } = domain;
  const note = domain.certificateID === null && <p className={classes['note']}>{t('domains.https.noCertificate')}</p>;
  return (
    <ResourceForm
      preview
      update={domains.https}
      params={{ siteId: domain.siteID, domainId: domain.id }}
      value={{ scheme, portMap, forceSSL, hsts, minTLS, originVerify, originCertificateID }}
      done="domains.changes.saved"
      bar
    >
      <fieldset className={classes['settings']} disabled={!can(domains.https)}>
        <Section title="domains.https.certificate" why="domains.https.certificateWhy">
          <DomainCertificate domain={domain} />
        </Section>
        <Section title="domains.https.force" why="domains.https.forceWhy">
          <div>
            <SwitchField name="forceSSL" />
            {note}
          </div>
        </Section>
        <Section title="domains.https.hsts" why="domains.https.hstsWhy">
          <div>
            <HstsField />
            {note}
          </div>
        </Section>
        <Section title="domains.https.version" why="domains.https.versionWhy">
          <ChoiceField name="minTLS" segmented />
        </Section>
        <Section title="domains.https.origin" why="domains.https.originWhy">
          {scheme === 'http' ? (
            t('domains.https.originPlain')
          ) : (
            <>
              <SwitchField name="originVerify" />
              {can(certificates.meta) && (
                <SelectMetaField name="originCertificateID" meta={certificates.meta} nullable />
              )}
            </>
          )}
        </Section>
      </fieldset>
    </ResourceForm>
  );
}

interface HstsSettings {
  maxAgeSeconds: number;
  includeSubdomains: boolean;
  preload: boolean;
}
const isHstsSettings = (value: unknown): value is HstsSettings =>
  typeof value === 'object' && value !== null && 'maxAgeSeconds' in value && 'preload' in value;

function HstsField() {
  const t = useT();
  const { value, set, inner, input } = useField('hsts');
  const hsts = isHstsSettings(value) ? value : null;
  const inWords = (seconds: number) =>
    seconds < DAY_SECONDS
      ? t('domains.https.minutes', { count: seconds / 60 })
      : t('domains.https.days', { count: Math.round(seconds / DAY_SECONDS) });
  const known = hsts && !ages.includes(hsts.maxAgeSeconds) ? [...ages, hsts.maxAgeSeconds] : ages;
  return (
    <div className={classes['hsts']}>
      <Switch
        label={input.label}
        checked={hsts !== null}
        onChange={(event) =>
          set(event.currentTarget.checked ? { maxAgeSeconds: 300, includeSubdomains: false, preload: false } : null)
        }
      />
      {hsts && (
        <>
          <Select
            label={t('domains.https.maxAge')}
            data={known.map((seconds) => ({ value: String(seconds), label: inWords(seconds) }))}
            value={String(hsts.maxAgeSeconds)}
            allowDeselect={false}
            error={inner.has('maxAgeSeconds') && t('domains.https.preloadAge')}
            onChange={(next) => set({ ...hsts, maxAgeSeconds: Number(next) })}
          />
          <Checkbox
            label={t('domains.https.includeSubdomains')}
            checked={hsts.includeSubdomains}
            error={inner.has('includeSubdomains') && t('domains.https.preloadSubdomains')}
            onChange={(event) => set({ ...hsts, includeSubdomains: event.currentTarget.checked })}
          />
          <Checkbox
            label={t('domains.https.preload')}
            description={t('domains.https.preloadWhy')}
            checked={hsts.preload}
            onChange={(event) => {
              const preload = event.currentTarget.checked;
              const needed = { maxAgeSeconds: Math.max(hsts.maxAgeSeconds, YEAR_SECONDS), includeSubdomains: true };
              set({ ...hsts, ...(preload && needed), preload });
            }}
          />
        </>
      )}
    </div>
  );
}
