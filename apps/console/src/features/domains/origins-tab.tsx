import { domains, domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { Button, Input, NumberInput, SegmentedControl, Select, TextInput } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useState } from 'react';
import { LeaveGuard } from '../../components/leave-guard/leave-guard.tsx';
import type { Origin } from '../../components/origins/origins.ts';
import { OriginsTable } from '../../components/origins/origins-table.tsx';
import { Section } from '../../components/page/section.tsx';
import { SaveBar } from '../../components/save-bar/save-bar.tsx';
import { useKeepDraft, useStoredDraft } from '../../lib/drafts.ts';
import { ruleText, toastError } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { make, type Planned } from '../../lib/planned.ts';
import { refresh } from '../../lib/queries.ts';
import type { Issue } from '../../lib/schema.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { toast } from '../../stores/toasts.ts';
import classes from './domains.module.css';
import { OriginProbe } from './origin-probe.tsx';
import { changesOf, draftOf, faultsOf, planOf, type Domain, type Draft, type Plan } from './origins-draft.ts';
import { HealthField } from './health-field.tsx';
import { PortMapField } from './port-map-field.tsx';

const schemes = ['http', 'https', 'follow'] as const;
const hashTypes = ['roundRobin', 'addressHash', 'uriHash', 'leastConnections'] as const;
const failure = ['maxFails', 'failTimeoutSeconds', 'connectTimeoutSeconds', 'readTimeoutSeconds'] as const;

/** Origins of a domain, edited as one draft. */
export function OriginsTab({ domain }: { domain: Domain }) {
  const t = useT();
  const can = useCan();
  const live = draftOf(domain);
  const draftKey = `origins ${domain.id}`;
  const restored = useStoredDraft(draftKey, isDraft);
  const [isRestored, setRestored] = useState(restored !== null);
  const [edited, setEdited] = useState(restored);
  useKeepDraft(draftKey, () => edited ?? undefined);
  const [tried, setTried] = useState(false);
  const { save, saving } = useSave(domain, live);
  const draft = edited ?? live;
  const found = useEndpoint(
    domainUpstreams.health,
    { params: { siteId: domain.siteID, domainId: domain.id } },
    { pollMs: 5000, enabled: live.healthCheck !== null },
  );
  const locked = !can(domains.update);
  const set = (part: Partial<Draft>) => setEdited({ ...draft, ...part });

  const changes = changesOf(live, draft, t);
  const faults = faultsOf(draft);
  const wrong = (issue: Issue | undefined) => (issue ? ruleText(issue.rule, issue.message, issue.values) : undefined);
  const fault = (path: string) => (tried || path in touchedBy(live, draft) ? wrong(faults[path]) : undefined);

  const discard = () => {
    setEdited(null);
    setTried(false);
    setRestored(false);
  };
  const onSave = async () => {
    setTried(true);
    if (Object.keys(faults).length > 0) return focusFirstFault();
    if (await save(draft, setEdited)) {
      discard();
      toast({ text: t('domains.changes.saved') });
    }
  };
  const plan = () => {
    setTried(true);
    if (Object.keys(faults).length === 0) return callsFor(domain, planOf(live, draft));
    focusFirstFault();
    return null;
  };
  return (
    <>
      <LeaveGuard when={changes.length > 0} />
      <Section title="domains.origins.protocol" why="domains.origins.protocolWhy">
        <Input.Wrapper label={t('domains.fields.scheme')} labelElement="div">
          <div>
            <SegmentedControl
              aria-label={t('domains.fields.scheme')}
              data={schemes.map((value) => ({ value, label: t(`domains.choices.scheme.${value}`) }))}
              value={draft.scheme}
              disabled={locked}
              onChange={(value) => set({ scheme: schemes.find((scheme) => scheme === value) ?? 'http' })}
            />
          </div>
        </Input.Wrapper>
        <TextInput
          label={t('domains.fields.hostReplace')}
          placeholder={t('domains.origins.visitors')}
          value={draft.hostReplace}
          disabled={locked}
          error={fault('hostReplace')}
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
            error={fault('sni')}
            spellCheck={false}
            onChange={(event) => set({ sni: event.currentTarget.value })}
          />
        )}
      </Section>
      <OriginsTable
        origins={draft.origins}
        usualPort={draft.scheme === 'https' ? 443 : 80}
        locked={locked}
        onChange={(origins) => set({ origins })}
        {...(live.healthCheck !== null && { health: found.data?.data ?? [] })}
        fault={(path) => (tried || !path.endsWith('.address') ? wrong(faults[path]) : undefined)}
        {...(faults['origins'] && { noneOn: t('origins.noneOn') })}
      />
      <Section title="domains.probe.title" why="domains.probe.why">
        <ProbeAll domain={domain} origins={draft.origins} />
      </Section>
      <Section title="domains.origins.failure" why="domains.origins.failureWhy">
        {failure.map((name) => (
          <NumberInput
            key={name}
            label={t(`domains.fields.${name}`)}
            value={draft[name]}
            min={name === 'maxFails' ? 0 : 1}
            max={name === 'maxFails' ? 100 : 3600}
            clampBehavior="none"
            allowDecimal={false}
            {...(name !== 'maxFails' && { suffix: ' s' })}
            disabled={locked}
            error={wrong(faults[name])}
            onChange={(value) => set({ [name]: Number(value) })}
          />
        ))}
      </Section>
      <Section title="domains.origins.websocket" why="domains.origins.websocketWhy">
        <NumberInput
          className={classes['short'] ?? ''}
          label={t('domains.fields.websocketTimeoutSeconds')}
          value={draft.websocketTimeoutSeconds}
          min={1}
          max={86_400}
          clampBehavior="none"
          allowDecimal={false}
          suffix=" s"
          disabled={locked}
          error={wrong(faults['websocketTimeoutSeconds'])}
          onChange={(value) => set({ websocketTimeoutSeconds: Number(value) })}
        />
      </Section>
      <Section title="domains.health.title" why="domains.health.why">
        <HealthField
          value={draft.healthCheck}
          locked={locked}
          onChange={(healthCheck) => set({ healthCheck })}
          fault={(field) => wrong(faults[`healthCheck.${field}`])}
        />
      </Section>
      <Section title="domains.origins.slowStart" why="domains.origins.slowStartWhy">
        <NumberInput
          className={classes['short'] ?? ''}
          label={t('domains.fields.slowStartSeconds')}
          value={draft.slowStartSeconds}
          min={0}
          max={3600}
          clampBehavior="none"
          allowDecimal={false}
          suffix=" s"
          disabled={locked}
          error={wrong(faults['slowStartSeconds'])}
          onChange={(value) => set({ slowStartSeconds: Number(value) })}
        />
      </Section>
      <Section title="domains.origins.portMap" why="domains.origins.portMapWhy">
        <PortMapField
          value={draft.portMap}
          locked={locked}
          onChange={(portMap) => set({ portMap })}
          {...(faults['portMap'] && {
            error: draft.portMap.length === 0 ? t('domains.origins.portMapNeeded') : wrong(faults['portMap']),
          })}
        />
      </Section>
      <SaveBar
        changes={changes}
        saving={saving}
        preview={{ plan }}
        onSave={() => void onSave()}
        isRestored={isRestored}
        onDiscard={discard}
      />
    </>
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

const isDraft = (kept: unknown): kept is Draft =>
  typeof kept === 'object' &&
  kept !== null &&
  'origins' in kept &&
  'portMap' in kept &&
  'healthCheck' in kept &&
  'websocketTimeoutSeconds' in kept;

/** A changed text shows its error at once, an untouched one on submission. */
const touchedBy = (live: Draft, draft: Draft) => ({
  ...(live.hostReplace !== draft.hostReplace && { hostReplace: true }),
  ...(live.sni !== draft.sni && { sni: true }),
});

const focusFirstFault = () =>
  requestAnimationFrame(() => document.querySelector<HTMLElement>('main [aria-invalid="true"]')?.focus());

/** Calls in order: new origins first, since the last enabled one may be removed. */
function callsFor(domain: Domain, { create, change, remove, update, https }: Plan): Planned[] {
  const params = { siteId: domain.siteID, domainId: domain.id };
  const calls: (Planned | false)[] = [
    create.length > 0 && { endpoint: domainUpstreams.create, params, body: { upstreams: create } },
    change.length > 0 && { endpoint: domainUpstreams.update, params, body: { upstreams: change } },
    remove.length > 0 && { endpoint: domainUpstreams.remove, params, body: { ids: remove } },
    update !== null && { endpoint: domains.update, params, body: update },
    https !== null && { endpoint: domains.https, params, body: https },
  ];
  return calls.filter((one) => one !== false);
}

/** Completed calls are kept on an error, so that saving again does the rest. */
function useSave(domain: Domain, live: Draft) {
  const [saving, setSaving] = useState(false);
  const save = async (draft: Draft, taken: (draft: Draft) => void): Promise<boolean> => {
    setSaving(true);
    try {
      for (const one of callsFor(domain, planOf(live, draft))) {
        const reply = await make(one);
        await refresh(['domains', 'sites']);
        if (one.endpoint === domainUpstreams.create) taken(withIDs(draft, reply));
      }
      return true;
    } catch (error) {
      toastError(error);
      return false;
    } finally {
      setSaving(false);
    }
  };
  return { save, saving };
}

const withIDs = (draft: Draft, reply: unknown): Draft => {
  const saved = domainUpstreams.create.reply.safeParse(reply).data?.data ?? [];
  return { ...draft, origins: draft.origins.map((origin) => withID(origin, saved)) };
};

function withID(origin: Draft['origins'][number], saved: Domain['upstreams']) {
  const found =
    origin.id === null && saved.find(({ address, port }) => address === origin.address && port === origin.port);
  return found ? { ...origin, id: found.id, key: found.id } : origin;
}
