import { nameProofSetting } from '@edgeloom/contract/name-proof-setting/name-proof-setting.endpoints.ts';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { Section } from '../../components/page/section.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { useEndpoint } from '../../lib/use-endpoint.ts';

/** Whether customers must verify every new domain name. */
export function NameProofSettingForm() {
  return (
    <Await result={useEndpoint(nameProofSetting.get)}>
      {(value) => (
        <ResourceForm update={nameProofSetting.update} value={value}>
          <Section title="nameProofSetting.names" why="nameProofSetting.why">
            <SwitchField name="everyName" />
          </Section>
        </ResourceForm>
      )}
    </Await>
  );
}
