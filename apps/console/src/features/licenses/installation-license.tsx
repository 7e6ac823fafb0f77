import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Licensed } from '@edgeloom/contract/licenses/licenses.ts';
import { installationLicense } from '@edgeloom/contract/licenses/offline-licenses.endpoints.ts';
import { Button, FileButton } from '@mantine/core';
import { IconFileUpload } from '@tabler/icons-react';
import { TextField } from '../../components/fields/text-field.tsx';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Section } from '../../components/page/section.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { Pill } from '../../components/status/status.tsx';
import { Copy } from '../../components/values/copy.tsx';
import { Time } from '../../components/values/values.tsx';
import { count, time } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

type Loaded = Received<typeof installationLicense.get>;

/** The limits of all operators together, and the form that loads a license file. */
export function InstallationLicense() {
  const can = useCan();
  return (
    <>
      <Section title="installationLicense.title" why="installationLicense.why">
        <Await result={useEndpoint(installationLicense.get)}>{(loaded) => <LicenseFacts of={loaded} />}</Await>
      </Section>
      {can(installationLicense.load) && (
        <Section title="installationLicense.loadTitle" why="installationLicense.loadWhy">
          <ResourceForm
            create={installationLicense.load}
            // An editor ends the last line of a file.
            wrap={({ license }) => ({ license: String(license).trim() })}
            submitLabel="installationLicense.load"
            done="installationLicense.loaded"
          >
            <TextField name="license" long mono />
            <ChooseFile />
          </ResourceForm>
        </Section>
      )}
    </>
  );
}

function ChooseFile() {
  const t = useT();
  const { set } = useField('license');
  return (
    <div>
      <FileButton
        onChange={(file) => void file?.text().then(set)}
        accept=".json"
        inputProps={{ 'aria-label': t('installationLicense.chooseFile') }}
      >
        {(props) => (
          <Button
            {...props}
            size="compact-xs"
            variant="default"
            leftSection={<IconFileUpload size={13} stroke={1.6} />}
          >
            {t('installationLicense.chooseFile')}
          </Button>
        )}
      </FileButton>
    </div>
  );
}

const limitNames = {
  sites: 'siteLimit',
  nodes: 'nodeLimit',
  zones: 'zoneLimit',
  domains: 'domainLimit',
  autoCertificates: 'autoCertificateLimit',
} as const;

function LicenseFacts({ of: { machineCode, license, isExpired, otherMachineUntil, uses } }: { of: Loaded }) {
  const t = useT();
  const use = (thing: Licensed) => {
    const limit = license?.[limitNames[thing]] ?? 0;
    return limit === 0
      ? t('licenses.unlimited', { count: count(uses[thing]) })
      : t('licenses.ofLimit', { count: count(uses[thing]), limit: count(limit) });
  };
  return (
    <Facts>
      <Fact term={t('installationLicense.machineCode')} wide>
        <Copy text={machineCode} />
      </Fact>
      {otherMachineUntil !== null && (
        <Fact term={t('installationLicense.otherMachine')} wide>
          {t('installationLicense.otherMachineWhy', { time: time(otherMachineUntil) })}
        </Fact>
      )}
      <Fact term={t('licenses.title')}>{license?.name ?? t('installationLicense.none')}</Fact>
      {Licensed.options.map((thing) => (
        <Fact key={thing} term={t(`licenses.${thing}`)}>
          {use(thing)}
        </Fact>
      ))}
      {license && (
        <>
          <Fact term={t('licenses.layer4')}>{t(license.layer4 ? 'licenses.allowed' : 'licenses.notAllowed')}</Fact>
          <Fact term={t('licenses.endsAt')}>
            {license.notAfter === null ? t('licenses.never') : <Time at={license.notAfter} />}{' '}
            {isExpired && <Pill tone="bad">{t('installationLicense.expired')}</Pill>}
          </Fact>
        </>
      )}
    </Facts>
  );
}
