import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { MultiSelect } from '@mantine/core';
import { useMemo } from 'react';
import { Label } from '../../components/fields/label.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { useT } from '../../lib/i18n.ts';
import type { BoardGroup } from './board.ts';
import { allLines, lineName } from './line-name.ts';

export function GroupForm({ zoneId, value }: { zoneId: string; value?: BoardGroup }) {
  return (
    <ResourceForm
      create={groups.create}
      update={groups.update}
      params={{ zoneId }}
      value={value}
      refreshes={['products']}
    >
      <TextField name="name" />
      <NumberField name="priority" min={1} max={100} />
      <SelectMetaField name="backupGroupID" meta={groups.meta} nullable />
      <LineChoices />
    </ResourceForm>
  );
}

function LineChoices() {
  const t = useT();
  const { value, set, input } = useField('lines');
  const data = useMemo(() => allLines().map((line) => ({ value: line, label: lineName(line) })), []);
  return (
    <MultiSelect
      {...input}
      label={<Label text={input.label} optional />}
      required={false}
      data={data}
      searchable
      nothingFoundMessage={t('common.states.nothingMatches')}
      value={Array.isArray(value) ? value.map(String) : []}
      onChange={set}
    />
  );
}
