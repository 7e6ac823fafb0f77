import { blacklists, firewall, geos, userAgents, whitelists } from '@edgeloom/contract/firewall/firewall.endpoints.ts';
import { AddressListInput, GeoRuleInput, methods, UserAgentInput } from '@edgeloom/contract/firewall/firewall.ts';
import { MultiSelect, SegmentedControl, Select } from '@mantine/core';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { ManyField } from '../../components/fields/many-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { EntriesField } from './entries-field.tsx';
import { useRegions } from './use-regions.ts';

export type AddressList = RowOf<typeof blacklists.list>;
export type GeoRule = RowOf<typeof geos.list>;
export type UserAgentRule = RowOf<typeof userAgents.list>;

const refreshes = ['firewall', 'sites'];
const withId = (value: { id: string } | undefined) => (body: object) => (value ? { id: value.id, ...body } : body);

interface ListFormProps {
  siteId: string;
  isBlack: boolean;
  value?: AddressList;
}

export function ListForm({ siteId, isBlack, value }: ListFormProps) {
  const calls = isBlack ? blacklists : whitelists;
  return (
    <ResourceForm
      create={calls.create}
      update={calls.update}
      params={{ siteId }}
      value={value}
      schema={AddressListInput}
      words="firewall"
      wrap={withId(value)}
      refreshes={refreshes}
    >
      <EntriesField />
      <TextField name="memo" />
      <LinesField name="url" whole placeholder={'/admin/*\nhttps://www.example.com/login'} rows={3} />
      <ManyField name="methodValues" data={methods} />
      {isBlack && <SwitchField name="monitor" />}
      <SwitchField name="enabled" />
    </ResourceForm>
  );
}

export function GeoForm({ siteId, value }: { siteId: string; value?: GeoRule }) {
  return (
    <ResourceForm
      preview
      create={geos.create}
      update={geos.update}
      params={{ siteId }}
      value={value}
      initial={{ geoIDs: [] }}
      schema={GeoRuleInput}
      words="firewall"
      wrap={withId(value)}
      refreshes={refreshes}
    >
      <ModeField />
      <RegionsField />
      <ReactionFields />
    </ResourceForm>
  );
}

function ModeField() {
  const t = useT();
  const { value, set, input } = useField('isBlack');
  return (
    <SegmentedControl
      aria-label={input.label}
      value={value === false ? 'allow' : 'block'}
      data={[
        { value: 'block', label: t('firewall.modes.block') },
        { value: 'allow', label: t('firewall.modes.allow') },
      ]}
      onChange={(mode) => set(mode === 'block')}
    />
  );
}

function RegionsField() {
  const t = useT();
  const { data } = useEndpoint(firewall.regions);
  const { nameOf } = useRegions();
  const { value, set, inner, input } = useField('geoIDs');
  const groups = ['continents', 'countries', 'provinces'] as const;
  return (
    <div>
      <MultiSelect
        {...input}
        data={groups.map((group) => ({
          group: t(`firewall.regions.${group}`),
          items: (data?.[group] ?? []).map(({ geoID }) => ({ value: geoID, label: nameOf(geoID) })),
        }))}
        searchable
        clearable
        hidePickedOptions
        limit={300}
        nothingFoundMessage={t('common.states.nothingMatches')}
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={set}
        error={input.error ?? [...inner.values()][0] ?? null}
      />
    </div>
  );
}

export function UserAgentForm({ siteId, value }: { siteId: string; value?: UserAgentRule }) {
  return (
    <ResourceForm
      preview
      create={userAgents.create}
      update={userAgents.update}
      params={{ siteId }}
      value={value}
      schema={UserAgentInput}
      words="firewall"
      wrap={withId(value)}
      refreshes={refreshes}
    >
      <TextField name="userAgentRegex" mono placeholder="^(?:curl|python-requests)/" />
      <ReactionFields />
    </ResourceForm>
  );
}

function ReactionFields() {
  return (
    <>
      <TextField name="urlRegex" mono placeholder=".*" />
      <BlockTypeField />
      <SwitchField name="monitor" />
      <SwitchField name="enabled" />
    </>
  );
}

const blockTypes = [0, 1, 2, 3, 4] as const;

function BlockTypeField() {
  const t = useT();
  const { value, set, input } = useField('blockType');
  return (
    <div>
      <Select
        {...input}
        data={blockTypes.map((type) => ({ value: String(type), label: t(`firewall.blockTypes.${type}`) }))}
        value={String(value)}
        allowDeselect={false}
        onChange={(type) => set(Number(type))}
      />
    </div>
  );
}
