import { clientZones } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { ManyMetaField } from '../../components/fields/many-field.tsx';
import { Section } from '../../components/page/section.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import type { Account } from './account.ts';

/** Zones assigned to an operator's sub-account. */
export function AssignZones({ account }: { account: Account }) {
  const params = { clientId: account.id };
  const found = useEndpoint(clientZones.get, { params });
  return (
    <Await result={found}>
      {(assigned) => (
        <ResourceForm
          update={clientZones.update}
          params={params}
          words="accounts"
          value={{ zoneIDs: assigned.data.map(({ id }) => id) }}
          done="accounts.done.zones"
          bar
        >
          <Section title="accounts.sections.zones" why="accounts.sections.zonesWhy">
            <ManyMetaField name="zoneIDs" meta={zones.meta} editable={account.manageable} />
          </Section>
        </ResourceForm>
      )}
    </Await>
  );
}
