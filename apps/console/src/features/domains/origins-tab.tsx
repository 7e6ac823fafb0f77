import { domains, domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { Button, Input, NumberInput, SegmentedControl, Select, TextInput } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useState } from 'react';
import { LeaveGuard } from '../../components/leave-guard/leave-guard.tsx';
import type { Origin } from '../../components/origins/origins.ts';
import { OriginsTable } from '../../components/origins/origins-table.tsx';
import { Section } from '../../components/page/section.tsx';
import { SaveBar } from '../../components/save-bar/save-bar.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './domains.module.css';
import { HealthField } from './health-field.tsx';
import { OriginProbe } from './origin-probe.tsx';
import type { Domain } from './origins-draft.ts';
import { PortMapField } from './port-map-field.tsx';
import { useOriginsDraft, type OriginsDraft } from './use-origins-draft.ts';

const schemes = ['http', 'https', 'follow'] as const;
const hashTypes = ['roundRobin', 'addressHash', 'uriHash', 'leastConnections'] as const;
const timeouts = ['failTimeoutSeconds', 'connectTimeoutSeconds', 'readTimeoutSeconds'] as const;

/** Origins of a domain, edited as one draft. */
export function OriginsTab({ domain }: { domain: Domain }) {
  const can = useCan();
  const origins = useOriginsDraft(domain);
  const { draft, changes } = origins;
  const locked = !can(domains.update);
  return (
    <>
      <LeaveGuard when={changes.length > 0} />
      <ProtocolSection origins={origins} locked={locked} />
      <Table domain={domain} origins={origins} locked={locked} />
      <Section title="domains.probe.title" why="domains.probe.why">
        <ProbeAll domain={domain} origins={draft.origins} />
      </Section>
      <Section title="domains.origins.failure" why="domains.origins.failureWhy">
        <DraftNumber name="maxFails" min={0} max={100} origins={origins} locked={locked} />
        {timeouts.map((name) => (
          <DraftNumber key={name} name={name} max={3600} suffix=" s" origins={origins} locked={locked} />
        ))}
      </Section>
      <Section title="domains.origins.websocket" why="domains.origins.websocketWhy">
        <DraftNumber
          name="websocketTimeoutSeconds"
          max={86_400}
          suffix=" s"
          isShort
          origins={origins}
          locked={locked}
        />
      </Section>
      <Section title="domains.health.title" why="domains.health.why">
        <HealthField
          value={draft.healthCheck}
          locked={locked}
          onChange={(healthCheck) => origins.set({ healthCheck })}
          fault={(field) => origins.errorAt(`healthCheck.${field}`)}
        />
      </Section>
      <Section title="domains.origins.slowStart" why="domains.origins.slowStartWhy">
        <DraftNumber name="slowStartSeconds" min={0} max={3600} suffix=" s" isShort origins={origins} locked={locked} />
      </Section>
      <PortMapSection origins={origins} locked={locked} />
      <SaveBar
        changes={changes}
        saving={origins.saving}
        preview={{ plan: origins.plan }}
        onSave={() => void origins.save()}
        isRestored={origins.isRestored}
        onDiscard={origins.discard}
      />
    </>
  );
}

interface SectionProps {
  origins: OriginsDraft;
  /** Without permission to change the domain. */
  locked: boolean;
}

/** How nodes connect to the origins, and how requests are spread over them. */
function ProtocolSection({ origins: { draft, set, errorOnceTouched }, locked }: SectionProps) {
  const t = useT();
  return (
    <Section title="domains.origins.protocol" why="domains.origins.protocolWhy">
      <Input.Wrapper label={t('domains.fields.scheme')} labelElement="div">
        <div>
          <SegmentedControl
            aria-label={t('domains.fields.scheme')}
            data={schemes.map((value) => ({ value, label: t(`domains.choices.scheme.${value}`) }))}
            value={draft.scheme}
            disabled={locked}
            onChange={(scheme) => set({ scheme })}
          />
        </div>
      </Input.Wrapper>
      <TextInput
        label={t('domains.fields.hostReplace')}
        placeholder={t('domains.origins.visitors')}
        value={draft.hostReplace}
        disabled={locked}
        error={errorOnceTouched('hostReplace')}
        spellCheck={false}
        onChange={(event) => set({ hostReplace: event.currentTarget.value })}
      />
      <Select
        label={t('domains.fields.hashType')}
        data={hashTypes.map((value) => ({ value, label: t(`domains.choices.hashType.${value}`) }))}
        value={draft.hashType}
        disabled={locked}
        allowDeselect={false}
        onChange={(value) => set({ hashType: hashTypes.find((type) => type === value) ?? 'roundRobin' })}
      />
      {draft.scheme !== 'http' && (
        <TextInput
          label={t('domains.fields.sni')}
          placeholder={t('domains.origins.asHost')}
          value={draft.sni}
          disabled={locked}
          error={errorOnceTouched('sni')}
          spellCheck={false}
          onChange={(event) => set({ sni: event.currentTarget.value })}
        />
      )}
    </Section>
  );
}

/** The origins, with the results of health checks and the share of failed requests. */
function Table({ domain, origins: { draft, live, set, tried, errorAt }, locked }: SectionProps & { domain: Domain }) {
  const t = useT();
  const isChecked = live.healthCheck !== null;
  const can = useCan();
  const params = { siteId: domain.siteID, domainId: domain.id };
  const health = useEndpoint(domainUpstreams.health, { params }, { pollMs: 5000, enabled: isChecked });
  const canReadTraffic = can(domainUpstreams.traffic);
  const traffic = useEndpoint(domainUpstreams.traffic, { params }, { enabled: canReadTraffic });
  return (
    <OriginsTable
      origins={draft.origins}
      usualPort={draft.scheme === 'https' ? 443 : 80}
      locked={locked}
      onChange={(changed) => set({ origins: changed })}
      {...(isChecked && { health: health.data?.data ?? [] })}
      {...(canReadTraffic && { traffic: traffic.data?.isMeasured ? traffic.data.data : null })}
      fault={(path) => (tried || !path.endsWith('.address') ? errorAt(path) : undefined)}
      {...(errorAt('origins') !== undefined && { noneOn: t('origins.noneOn') })}
    />
  );
}

interface DraftNumberProps extends SectionProps {
  name: 'maxFails' | (typeof timeouts)[number] | 'websocketTimeoutSeconds' | 'slowStartSeconds';
  min?: number;
  max: number;
  suffix?: string;
  isShort?: boolean;
}

function DraftNumber({ name, min = 1, max, suffix, isShort = false, origins, locked }: DraftNumberProps) {
  const t = useT();
  return (
    <NumberInput
      {...(isShort && { className: classes['short'] ?? '' })}
      label={t(`domains.fields.${name}`)}
      value={origins.draft[name]}
      min={min}
      max={max}
      clampBehavior="none"
      allowDecimal={false}
      {...(suffix !== undefined && { suffix })}
      disabled={locked}
      error={origins.errorAt(name)}
      onChange={(value) => origins.set({ [name]: Number(value) })}
    />
  );
}

function PortMapSection({ origins: { draft, set, errorAt }, locked }: SectionProps) {
  const t = useT();
  const error = errorAt('portMap');
  return (
    <Section title="domains.origins.portMap" why="domains.origins.portMapWhy">
      <PortMapField
        value={draft.portMap}
        locked={locked}
        onChange={(portMap) => set({ portMap })}
        {...(error !== undefined && {
          error: draft.portMap.length === 0 ? t('domains.origins.portMapNeeded') : error,
        })}
      />
    </Section>
  );
}

/** Tests the origins from the control plane on demand. Results of the nodes are in the table. */
function ProbeAll({ domain, origins }: { domain: Domain; origins: readonly Origin[] }) {
  const t = useT();
  const can = useCan();
  const [asked, setAsked] = useState<readonly Origin[]>([]);
  const host = domain.name.startsWith('*.') ? null : domain.name;
  return (
    <div className={classes['probes']}>
      <Button
        variant="default"
        size="xs"
        disabled={!can(domains.probe)}
        leftSection={<IconPlugConnected size={14} stroke={1.6} />}
        onClick={() => setAsked(origins.filter(({ address }) => address !== ''))}
      >
        {t('domains.probe.all')}
      </Button>
      {asked.map(({ key, address, port }) => (
        <OriginProbe key={key} siteId={domain.siteID} address={address} port={port} host={domain.hostReplace ?? host} />
      ))}
    </div>
  );
}
