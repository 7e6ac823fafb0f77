import { clientZones } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { MultiSelect } from '@mantine/core';
import { Section } from '../../components/page/section.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useMeta } from '../../lib/use-meta.ts';
import type { Account } from './account.ts';

/** Which zones a sub-account of the operator works in. */
export function AssignZones({ account }: { account: Account }) {
  const params = { clientId: account.id };
  const found = useEndpoint(clientZones.get, { params });
  return (
    <Await result={found}>
      {({ data }) => (
        <ResourceForm
          update={clientZones.update}
          params={params}
          words="accounts"
          value={{ zoneIDs: data.map(({ id }) => id) }}
          done="accounts.done.zones"
          bar
        >
          <Section title="accounts.sections.zones" why="accounts.sections.zonesWhy">
            <ZonesField name="zoneIDs" editable={account.manageable} />
          </Section>
        </ResourceForm>
      )}
    </Await>
  );
}

function ZonesField({ name, editable }: { name: string; editable: boolean }) {
  const t = useT();
  const { value, set, input } = useField(name);
  const data = useMeta(zones.meta);
  return (
    <div>
      <MultiSelect
        {...input}
        disabled={input.disabled || !editable}
        data={data}
        searchable
        clearable
        hidePickedOptions
        limit={100}
        nothingFoundMessage={t('common.states.nothingMatches')}
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={set}
      />
    </div>
  );
}
