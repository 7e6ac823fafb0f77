import { firewall } from '@edgeloom/contract/firewall/firewall.endpoints.ts';
import { riskLevels } from '@edgeloom/contract/zone-firewall/zone-firewall.ts';
import { Select } from '@mantine/core';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

/** Which risk scores are refused. */
export function ReputationTab({ siteId }: { siteId: string }) {
  const found = useEndpoint(firewall.abuseIP, { params: { siteId } });
  return (
    <Await result={found}>
      {(value) => (
        <ResourceForm
          preview
          update={firewall.updateAbuseIP}
          params={{ siteId }}
          value={value}
          words="firewall"
          refreshes={['sites']}
        >
          <SwitchField name="enabled" />
          <ScoreField />
          <SwitchField name="monitor" />
        </ResourceForm>
      )}
    </Await>
  );
}

function ScoreField() {
  const t = useT();
  const { value, set, input } = useField('score');
  return (
    <div>
      <Select
        {...input}
        data={riskLevels.map((score) => ({ value: String(score), label: t(`firewall.scores.${score}`) }))}
        value={String(value)}
        allowDeselect={false}
        onChange={(score) => set(Number(score))}
      />
    </div>
  );
}
