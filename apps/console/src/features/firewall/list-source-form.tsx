import { listSources } from '@edgeloom/contract/list-sources/list-sources.endpoints.ts';
import { ListSourceInput, sourceIntervals } from '@edgeloom/contract/list-sources/list-sources.ts';
import { Input, SegmentedControl, Select } from '@mantine/core';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { duration } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';

export type ListSource = RowOf<typeof listSources.list>;

export function ListSourceForm({ siteId, value }: { siteId: string; value?: ListSource }) {
  return (
    <ResourceForm
      create={listSources.create}
      update={listSources.update}
      params={{ siteId }}
      value={value}
      schema={ListSourceInput}
      words="listSources"
      wrap={(body) => (value ? { id: value.id, ...body } : body)}
    >
      <TextField name="name" />
      <TextField name="url" mono placeholder="https://lists.example.com/blocklist.txt" />
      <KindField />
      <IntervalField />
      <MonitorField />
      <SwitchField name="enabled" />
    </ResourceForm>
  );
}

function KindField() {
  const t = useT();
  const { value, set, input } = useField('isBlack');
  const monitor = useField('monitor');
  const choose = (isBlack: boolean) => {
    set(isBlack);
    monitor.set(false);
  };
  return (
    <Input.Wrapper label={input.label} labelElement="div">
      <div>
        <SegmentedControl
          aria-label={input.label}
          value={value === false ? 'white' : 'black'}
          data={(['black', 'white'] as const).map((kind) => ({ value: kind, label: t(`listSources.kinds.${kind}`) }))}
          onChange={(kind) => choose(kind === 'black')}
        />
      </div>
    </Input.Wrapper>
  );
}

function IntervalField() {
  const language = useLanguage();
  const { value, set, input } = useField('intervalMinutes');
  return (
    <div>
      <Select
        {...input}
        data={sourceIntervals.map((minutes) => ({ value: String(minutes), label: duration(minutes * 60, language) }))}
        value={String(value)}
        allowDeselect={false}
        onChange={(minutes) => set(Number(minutes))}
      />
    </div>
  );
}

/** An allow list blocks nobody, so there is nothing to monitor. */
function MonitorField() {
  const { value } = useField('isBlack');
  return value === false ? null : <SwitchField name="monitor" />;
}
